"""Answers of the command, for people and for programs."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from application.explain import Explanation
from application.ports.pool_configuration import Configuration, ConfigurationInvalid, Problem
from domain.assignment import Outcome, Trail, Verdict
from domain.pci import NETWORK_CLASS, base_class
from domain.pool import PoolSpec
from domain.selector import Refusal
from domain.selectors import PciClasses


def problems(invalid: ConfigurationInvalid, *, as_json: bool) -> str:
    """Everything that is wrong with a configuration."""
    if not as_json:
        return str(invalid)
    found = [_problem(problem) for problem in invalid.problems]
    return json.dumps({"file": invalid.source, "valid": False, "problems": found}, indent=2)


def configuration(file: str, found: Configuration, *, as_json: bool) -> str:
    """A configuration that can be served, and its warnings."""
    if as_json:
        pools = [str(pool.name) for pool in found.pools]
        warnings = [_problem(problem) for problem in found.warnings]
        return json.dumps({"file": file, "valid": True, "pools": pools, "problems": warnings}, indent=2)
    lines = [f"{file}:{problem}" for problem in found.warnings]
    return "\n".join((*lines, f"{file}: {len(found.pools)} pools, {len(found.warnings)} warnings"))


def explanation(found: Explanation, shown: Sequence[PoolSpec], only_device: str | None, *, as_json: bool) -> str:
    """These pools, their devices, and for each device left out the first refusal of each of them."""
    trails = [trail for trail in found.trails if only_device in (None, trail.device.id)]
    if as_json:
        return json.dumps(_explanation(found, shown, trails), indent=2)
    lines = [*_pools(found, shown), "", *_devices(trails, shown, everything=only_device is not None)]
    lines.extend(f"{name}  left out: {why}" for name, why in found.unreadable.items())
    return "\n".join(lines)


def _pools(found: Explanation, pools: Sequence[PoolSpec]) -> Iterator[str]:
    width = max((len(str(pool.name)) for pool in pools), default=0)
    for pool in pools:
        count = sum(trail.pool == pool.name for trail in found.trails)
        yield f"pool {pool.name!s:{width}}  {pool.device_type.value}  {count} device{'' if count == 1 else 's'}"
        yield from (f"     {advice.text}" for advice in found.advice if advice.pool == pool.name)


def _devices(trails: Sequence[Trail], pools: Sequence[PoolSpec], *, everything: bool) -> Iterator[str]:
    others = 0
    names = {pool.name for pool in pools}
    for trail in trails:
        verdicts = [verdict for verdict in trail.verdicts if verdict.pool in names]
        if not everything and not trail.pool and _is_of_another_kind(trail, verdicts):
            others += 1
            continue
        yield f"{trail.device.id}  {_description(trail)}  {_outcome(trail, verdicts)}"
        if trail.pool is None or everything:
            yield from (f"     {_verdict(trail, verdict)}" for verdict in verdicts)
    if others:
        devices = "device" if others == 1 else "devices"
        yield f"and {others} {devices} of other kinds than the pools are for (--device ID shows one)"


def _is_of_another_kind(trail: Trail, verdicts: Sequence[Verdict]) -> bool:
    """Whether no pool is for such devices: neither a network device nor of a class or type that one asks for."""
    if trail.unusable or base_class(trail.device.function.class_code) == NETWORK_CLASS:
        return base_class(trail.device.function.class_code) != NETWORK_CLASS
    return all(r.by in {"deviceType", PciClasses.key} for verdict in verdicts for r in verdict.refusals)


def _description(trail: Trail) -> str:
    function = trail.device.function
    parts = [f"{function.vendor}:{function.device}", function.driver or "no driver"]
    port = trail.device.pf_port.name if trail.device.pf_port else None
    if trail.device.index is not None:
        kind = "SF" if trail.device.subfunction else "VF"
        parts.append(f"{kind} {trail.device.index} of {port or function.physfn or function.address}")
    elif port:
        parts.append(port)
    return " ".join(parts)


def _outcome(trail: Trail, verdicts: Sequence[Verdict]) -> str:
    if trail.pool:
        return f"in pool {trail.pool}" + (f", Unhealthy: {trail.fault}" if trail.fault else "")
    if trail.unusable:
        return f"in no pool: {trail.unusable}"
    return "in no pool:" if verdicts else "in no pool: there are none"


def _verdict(trail: Trail, verdict: Verdict) -> str:
    if verdict.outcome is Outcome.TAKEN_BEFORE:
        return f"{verdict.pool}: selected too, but taken by {trail.pool}, which comes first in the file"
    if verdict.outcome is Outcome.TAKEN:
        return f"{verdict.pool}: takes it"
    return f"{verdict.pool}: {'; or '.join(map(str, verdict.refusals))}"


def _explanation(found: Explanation, pools: Sequence[PoolSpec], trails: Sequence[Trail]) -> dict[str, Any]:
    names = {pool.name for pool in pools}
    return {
        "pools": [
            {
                "resource": str(pool.name),
                "deviceType": pool.device_type.value,
                "devices": [trail.device.id for trail in found.trails if trail.pool == pool.name],
                "advice": [advice.text for advice in found.advice if advice.pool == pool.name],
            }
            for pool in pools
        ],
        "devices": [
            {
                "id": trail.device.id,
                "description": _description(trail),
                "pool": str(trail.pool) if trail.pool else None,
                "fault": trail.fault,
                "unusable": _refusal(trail.unusable) if trail.unusable else None,
                "verdicts": [
                    {
                        "resource": str(verdict.pool),
                        "outcome": verdict.outcome.value,
                        "refusals": [_refusal(refusal) for refusal in verdict.refusals],
                    }
                    for verdict in trail.verdicts
                    if verdict.pool in names
                ],
            }
            for trail in trails
        ],
        "unreadable": dict(found.unreadable),
    }


def _refusal(refusal: Refusal) -> dict[str, str]:
    return {"by": refusal.by, "wanted": refusal.wanted, "found": refusal.found}


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "where": problem.where,
        "line": problem.line,
        "column": problem.column,
        "message": problem.message,
        "hint": problem.hint,
        "fatal": problem.fatal,
    }

"""Which device belongs to which pool, and why a device is in none."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from domain.device import Device, devices
from domain.host import Host
from domain.host_use import host_uses
from domain.judgement import judge
from domain.pool import Member, PoolSpec
from domain.resource_name import ResourceName
from domain.selector import Refusal


@dataclass(frozen=True, slots=True)
class Assignment:
    """Every device in at most one pool; the devices of a pool ordered by address or name."""

    pools: Mapping[ResourceName, tuple[Member, ...]]


class Outcome(Enum):
    """How a pool decides on a device."""

    TAKEN = "taken"
    TAKEN_BEFORE = "taken before"
    """The pool would take it, but one before it in the file did."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one pool says of a device."""

    pool: ResourceName
    outcome: Outcome
    refusals: tuple[Refusal, ...] = ()
    """One reason a selector object, where the pool refuses."""


@dataclass(frozen=True, slots=True)
class Trail:
    """Why a device is where it is."""

    device: Device
    unusable: Refusal | None
    """Why no pool may have it, whatever it selects."""
    verdicts: tuple[Verdict, ...]
    fault: str | None = None
    """Why its pool has it and cannot hand it out."""

    @property
    def pool(self) -> ResourceName | None:
        """The pool that has it."""
        return next((v.pool for v in self.verdicts if v.outcome is Outcome.TAKEN), None)


def assign(host: Host, pools: Sequence[PoolSpec]) -> Assignment:
    """Give each usable device to the first pool, in file order, that takes it."""
    members: dict[ResourceName, list[Member]] = {pool.name: [] for pool in pools}
    for candidate, unusable in _candidates(host, pools):
        if unusable is None:
            for pool in pools:
                if member := pool.take(candidate):
                    members[pool.name].append(member)
                    break
    return Assignment({name: tuple(found) for name, found in members.items()})


def explain(host: Host, pools: Sequence[PoolSpec]) -> tuple[Trail, ...]:
    """Why each device is, or is not, in each pool: the selectors of ``assign`` asked one by one."""
    trails: list[Trail] = []
    for candidate, unusable in _candidates(host, pools):
        if unusable:
            trails.append(Trail(candidate, unusable, ()))
        else:
            found = next((judge(m, pool, host) for pool in pools if (m := pool.take(candidate))), None)
            trails.append(Trail(candidate, None, _verdicts(candidate, pools), found))
    return tuple(trails)


def _verdicts(candidate: Device, pools: Sequence[PoolSpec]) -> tuple[Verdict, ...]:
    verdicts: list[Verdict] = []
    taken = False
    for pool in pools:
        if refusals := pool.refusals(candidate):
            verdicts.append(Verdict(pool.name, Outcome.REFUSED, refusals))
        else:
            verdicts.append(Verdict(pool.name, Outcome.TAKEN_BEFORE if taken else Outcome.TAKEN))
            taken = True
    return tuple(verdicts)


def _candidates(host: Host, pools: Sequence[PoolSpec]) -> Iterator[tuple[Device, Refusal | None]]:
    host_use_allowed = any(selector.allow_host_use for pool in pools for selector in pool.selectors)
    for candidate in devices(host, host_uses(host)):
        yield candidate, unusable(candidate, host_use_allowed=host_use_allowed)


def unusable(candidate: Device, *, host_use_allowed: bool) -> Refusal | None:
    """What keeps a device out of every pool, whatever it selects."""
    function, subfunction = candidate.function, candidate.subfunction
    if function.vf_count and subfunction is None:
        return Refusal("PF with VFs", "a VF, or a PF without VFs", f"{function.vf_count} VFs configured")
    if candidate.host_use and not host_use_allowed:
        return Refusal("host use", "not needed by the host itself", candidate.host_use)
    if (subfunction or function).driver is None:
        return Refusal("driver", "any driver", "none bound")
    return None

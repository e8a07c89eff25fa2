"""Which device belongs to which pool, and why a device is in none."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from domain.device import Device, device
from domain.host import Host
from domain.host_use import host_uses
from domain.pci import PciAddress
from domain.pool import PoolSpec
from domain.resource_name import ResourceName
from domain.selectors import Refusal


@dataclass(frozen=True, slots=True)
class Assignment:
    """Every device in at most one pool; the devices of a pool ordered by address."""

    pools: Mapping[ResourceName, tuple[Device, ...]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one pool says of a device."""

    pool: ResourceName
    outcome: "Outcome"
    refusals: tuple[Refusal, ...] = ()
    """One reason a selector object, where the pool refuses."""


class Outcome(Enum):
    """How a pool decides on a device."""

    TAKEN = "taken"
    TAKEN_BEFORE = "taken before"
    """The pool would take it, but one before it in the file did."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Trail:
    """Why a device is where it is."""

    device: Device
    unusable: Refusal | None
    """Why no pool may have it, whatever it selects."""
    verdicts: tuple[Verdict, ...]

    @property
    def pool(self) -> ResourceName | None:
        """The pool that has it."""
        return next((v.pool for v in self.verdicts if v.outcome is Outcome.TAKEN), None)


def assign(host: Host, pools: Sequence[PoolSpec]) -> Assignment:
    """Give each usable device to the first pool, in file order, that accepts it."""
    members: dict[ResourceName, list[Device]] = {pool.name: [] for pool in pools}
    for candidate, unusable in _candidates(host):
        if unusable is None:
            taker = next((pool for pool in pools if pool.accepts(candidate)), None)
            if taker is not None:
                members[taker.name].append(candidate)
    return Assignment({name: tuple(devices) for name, devices in members.items()})


def explain(host: Host, pools: Sequence[PoolSpec]) -> tuple[Trail, ...]:
    """Why each device is, or is not, in each pool: the selectors of ``assign`` asked one by one."""
    return tuple(
        Trail(candidate, unusable, _verdicts(candidate, pools) if unusable is None else ())
        for candidate, unusable in _candidates(host)
    )


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


def _candidates(host: Host) -> Iterator[tuple[Device, Refusal | None]]:
    uses = host_uses(host)
    for address in sorted(host.functions):
        candidate = device(host, address)
        yield candidate, _unusable(candidate, uses)


def _unusable(candidate: Device, uses: Mapping[PciAddress, str]) -> Refusal | None:
    """What keeps a device out of every pool."""
    function = candidate.function
    if function.vf_count:
        return Refusal("PF with VFs", "a VF, or a PF without VFs", f"{function.vf_count} VFs configured")
    if function.address in uses:
        return Refusal("host use", "not needed by the host itself", uses[function.address])
    if function.driver is None:
        return Refusal("driver", "any driver", "none bound")
    return None

"""What an operator should know of pools that hold less than was probably meant."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain.assignment import Assignment
from domain.host import Host
from domain.pf_selectors import PfNames
from domain.pool import PoolSpec
from domain.resource_name import ResourceName


@dataclass(frozen=True, slots=True)
class Advice:
    """A remark on one pool."""

    pool: ResourceName
    text: str


def advise(host: Host, pools: Sequence[PoolSpec], assignment: Assignment) -> tuple[Advice, ...]:
    """Remarks on pools, in file order."""
    interfaces_of_vfs = {
        interface.name.lower(): function
        for function in host.functions.values()
        if function.physfn
        for interface in function.interfaces
    }
    remarks: list[Advice] = []
    for pool in pools:
        remarks.extend(Advice(pool.name, text) for text in _emptied_by_others(pool, assignment))
        remarks.extend(
            Advice(pool.name, f"pfNames: {name} is the interface of VF {interfaces_of_vfs[name].address}, not of a PF")
            for name in _pf_names(pool)
            if name in interfaces_of_vfs
        )
    return tuple(remarks)


def _emptied_by_others(pool: PoolSpec, assignment: Assignment) -> Iterator[str]:
    if assignment.pools[pool.name]:
        return
    takers = [name for name, members in assignment.pools.items() if any(pool.take(m.device) for m in members)]
    if takers:
        yield f"empty: {', '.join(map(str, sorted(takers)))} before it in the file has every device that it selects"


def _pf_names(pool: PoolSpec) -> Iterator[str]:
    for selector_object in pool.selectors:
        for selector in selector_object.selectors:
            if isinstance(selector, PfNames):
                yield from selector.ranges

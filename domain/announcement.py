"""What the kubelet is told of each pool.

A device that a pod may hold never leaves its pool's list and never enters another: from Kubernetes 1.34 on the kubelet
panics when a device it has handed out is missing (pkg/kubelet/cm/devicemanager, topology_hints.go).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from domain.assignment import Assignment
from domain.health import Health, HealthPolicy, link_fault
from domain.host import Host
from domain.judgement import device_fault
from domain.pool import PoolSpec
from domain.resource_name import ResourceName

GONE = "no longer on the host as this pool selects it"


@dataclass(frozen=True, slots=True)
class Announced:
    """One device in a pool's list."""

    id: str
    numa_node: int | None = None
    """Unset where unknown: the kubelet takes -1 for a node of its own (pkg/kubelet/cm/devicemanager)."""
    fault: str | None = None
    """Why it must not be handed out; None if it may."""


@dataclass(frozen=True, slots=True)
class Holding:
    """A device in the hands of a container."""

    resource: ResourceName
    device_id: str


Lists = Mapping[ResourceName, tuple[Announced, ...]]


def offers(
    host: Host,
    assignment: Assignment,
    specs: Sequence[PoolSpec],
    link_faults: Mapping[Holding, str] = MappingProxyType({}),
) -> Lists:
    """What each pool has to offer, with a fault where the pool's health policy finds one; sorted by id.

    ``link_faults`` are those of links that were down long enough.
    """
    lists: dict[ResourceName, tuple[Announced, ...]] = {}
    for spec in specs:
        entries = []
        for member in assignment.pools[spec.name]:
            node = None if spec.exclude_topology else member.device.function.numa_node
            found = device_fault(member, spec, host) or link_faults.get(Holding(spec.name, member.device.id))
            entries.append(Announced(member.device.id, node, found))
        lists[spec.name] = tuple(sorted(entries, key=lambda entry: entry.id))
    return lists


def judge_links(assignment: Assignment, specs: Sequence[PoolSpec]) -> Mapping[Holding, tuple[str | None, Health]]:
    """The link of each device in a pool that minds it, as it is now, and how the pool wants it held."""
    return {
        Holding(spec.name, member.device.id): (link_fault(member.device), spec.health)
        for spec in specs
        if spec.health.policy is HealthPolicy.LINK
        for member in assignment.pools[spec.name]
    }


def departed(offered: Lists, previous: Lists) -> frozenset[Holding]:
    """Devices that were announced in a pool and are in it no more."""
    gone: set[Holding] = set()
    for resource, entries in previous.items():
        present = {entry.id for entry in offered.get(resource, ())}
        gone.update(Holding(resource, entry.id) for entry in entries if entry.id not in present)
    return frozenset(gone)


def announce(offered: Lists, previous: Lists, held: Collection[Holding]) -> Lists:
    """The list of each pool, sorted by id, each id at most once in all of them but for one that several pools gave out.

    ``held`` are the departed devices that a pod may hold, and all that is held of their ids: they stay where they were,
    with a fault. A pool that is not in the configuration any more has a list as long as there are such devices of it.
    """
    if not held:
        return offered
    holders: dict[str, set[ResourceName]] = {}
    for holding in held:
        holders.setdefault(holding.device_id, set()).add(holding.resource)
    lists: dict[ResourceName, tuple[Announced, ...]] = {}
    for resource in {**offered, **previous}:
        here = [e for e in offered.get(resource, ()) if resource in holders.get(e.id, {resource})]
        present = {entry.id for entry in here}
        kept = [
            Announced(entry.id, entry.numa_node, GONE)
            for entry in previous.get(resource, ())
            if entry.id not in present and resource in holders.get(entry.id, ())
        ]
        if kept or resource in offered:
            lists[resource] = tuple(sorted((*here, *kept), key=lambda entry: entry.id))
    return lists


def united(lists: Lists, others: Lists) -> Lists:
    """The lists with what others have besides."""
    if not others:
        return lists
    found = dict(lists)
    for resource, entries in others.items():
        ids = {entry.id for entry in found.get(resource, ())}
        found[resource] = (*found.get(resource, ()), *(entry for entry in entries if entry.id not in ids))
    return found


def withhold(lists: Lists, known: Lists) -> Lists:
    """The lists without devices that were not announced before."""
    kept: dict[ResourceName, tuple[Announced, ...]] = {}
    for resource, entries in lists.items():
        before = {entry.id for entry in known.get(resource, ())}
        kept[resource] = tuple(entry for entry in entries if entry.id in before)
    return kept


def without(lists: Lists, ids: Collection[str]) -> Lists:
    """The lists without some devices."""
    if not ids:
        return lists
    return {resource: tuple(e for e in entries if e.id not in ids) for resource, entries in lists.items()}

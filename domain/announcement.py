"""What the kubelet is told of each pool.

A device that a pod may hold never leaves its pool's list and never enters another: from Kubernetes 1.34 on the kubelet
panics when a device it has handed out is missing (pkg/kubelet/cm/devicemanager, topology_hints.go).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from domain.assignment import Assignment
from domain.exposure import fault
from domain.host import Host
from domain.pool import Member, PoolSpec
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


def offers(host: Host, assignment: Assignment, specs: Sequence[PoolSpec]) -> Lists:
    """What each pool has to offer, with a fault where a device could not be handed out whole; sorted by id."""
    return {
        spec.name: tuple(
            sorted((_offer(member, spec, host) for member in assignment.pools[spec.name]), key=lambda o: o.id)
        )
        for spec in specs
    }


def departed(offered: Lists, previous: Lists) -> frozenset[Holding]:
    """Devices that were announced in a pool and are in it no more."""
    gone: set[Holding] = set()
    for resource, entries in previous.items():
        present = {entry.id for entry in offered.get(resource, ())}
        gone.update(Holding(resource, entry.id) for entry in entries if entry.id not in present)
    return frozenset(gone)


def announce(offered: Lists, previous: Lists, held: Collection[Holding]) -> Lists:
    """The list of each pool, sorted by id, each id at most once in all of them.

    ``held`` are the departed devices that a pod may hold: they stay where they were, with a fault.
    """
    if not held:
        return offered
    staying = {holding.device_id: holding.resource for holding in held}
    lists: dict[ResourceName, tuple[Announced, ...]] = {}
    for resource, entries in offered.items():
        kept = [
            Announced(entry.id, entry.numa_node, GONE)
            for entry in previous.get(resource, ())
            if staying.get(entry.id) == resource
        ]
        free = [entry for entry in entries if entry.id not in staying]
        lists[resource] = tuple(sorted((*free, *kept), key=lambda entry: entry.id))
    return lists


def _offer(member: Member, spec: PoolSpec, host: Host) -> Announced:
    node = None if spec.exclude_topology else member.device.function.numa_node
    return Announced(member.device.id, node, fault(member, spec, host))

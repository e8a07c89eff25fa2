"""What the kubelet is told of each pool.

A device that a pod may hold never leaves its pool's list and never enters another: from Kubernetes 1.34 on the kubelet
panics when a device it has handed out is missing (pkg/kubelet/cm/devicemanager, topology_hints.go).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from domain.assignment import Assignment
from domain.device import Device
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


def departed(assignment: Assignment, previous: Lists) -> frozenset[Holding]:
    """Devices that were announced in a pool and are in it no more."""
    return frozenset(
        Holding(resource, entry.id)
        for resource, entries in previous.items()
        for entry in _without(entries, assignment.pools.get(resource, ()))
    )


def announce(
    assignment: Assignment,
    specs: Sequence[PoolSpec],
    previous: Lists,
    held: Collection[Holding],
) -> Lists:
    """The list of each pool, sorted by id, each id at most once in all of them.

    ``held`` are the departed devices that a pod may hold: they stay where they were, with a fault.
    """
    staying = {holding.device_id: holding.resource for holding in held}
    lists: dict[ResourceName, tuple[Announced, ...]] = {}
    for spec in specs:
        entries = [
            Announced(device.id, None if spec.exclude_topology else device.function.numa_node)
            for device in assignment.pools[spec.name]
            if device.id not in staying
        ]
        entries.extend(
            Announced(entry.id, entry.numa_node, GONE)
            for entry in previous.get(spec.name, ())
            if staying.get(entry.id) == spec.name
        )
        lists[spec.name] = tuple(sorted(entries, key=lambda entry: entry.id))
    return lists


def _without(entries: Sequence[Announced], devices: Sequence[Device]) -> Sequence[Announced]:
    present = {device.id for device in devices}
    return [entry for entry in entries if entry.id not in present]

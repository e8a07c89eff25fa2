"""NUMA hints and their merging: dm/topology_hints.go, cm/topologymanager/policy_single_numa_node.go.

Only what devices need: one hint provider, the container scope. Masks are sets of node numbers.
"""

import itertools
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce

from tests.fakes.kubelet.device_table import DeviceTable
from tests.fakes.kubelet.panic import nil_dereference
from tests.fakes.kubelet.release import Release

Mask = frozenset[int]


@dataclass(frozen=True, slots=True)
class Hint:
    nodes: Mask | None  # none: any will do
    preferred: bool


@dataclass(frozen=True, slots=True)
class Hints:
    """The hints for one resource's devices."""

    table: DeviceTable
    release: Release
    machine: Mask

    def build(self, resource: str, available: Collection[str], reusable: Collection[str], size: int) -> list[Hint]:
        listed = self.table.listed.get(resource, {})
        places = {device: set(self.table.nodes(resource, device)) for device in listed}
        considered = self.machine
        if self.release.masks_only_device_nodes:
            # Nodes the machine does not have are ignored, -1 with them.
            considered = Mask(set().union(*places.values()) & self.machine) or self.machine
        narrowest = len(considered)
        fitting = []
        for mask in _masks(considered):
            if len(mask) < narrowest and sum(bool(p & mask) for p in places.values()) >= size:
                narrowest = len(mask)
            if any((p := self._place(places, d)) and not p & mask for d in reusable):
                continue
            matching = sum(bool(self._place(places, d) & mask) for d in reusable)
            matching += sum(bool(self._place(places, d) & mask) for d in available)
            if matching >= size:
                fitting.append(mask)
        return [Hint(mask, len(mask) == narrowest) for mask in fitting]

    def _place(self, places: dict[str, set[int]], device: str) -> set[int]:
        if device not in places and self.release.panics_on_missing_device:
            raise nil_dereference(f"topology hints: {device} is not listed")
        return places.get(device, set())


def single_numa_node(machine: Mask, hints: Iterable[list[Hint] | None]) -> tuple[bool, Mask | None]:
    """Whether the container may run, and the node to align to (none: any).

    None stands for a resource without topology, an empty list for one that fits nowhere.
    """
    per_resource = [
        [Hint(None, preferred=True)]
        if one is None
        else [hint for hint in one if hint.preferred and hint.nodes and len(hint.nodes) == 1]
        for one in hints
    ]
    common = [
        reduce(Mask.intersection, (hint.nodes for hint in choice if hint.nodes), machine)
        for choice in itertools.product(*per_resource)
    ]
    best = min(filter(None, common), key=lambda mask: (len(mask), min(mask)), default=None)
    return best is not None, None if best == machine else best


def _masks(nodes: Mask) -> Iterator[Mask]:
    for size in range(1, len(nodes) + 1):
        yield from map(Mask, itertools.combinations(sorted(nodes), size))

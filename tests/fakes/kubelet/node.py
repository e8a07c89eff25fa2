"""The Node object: nodestatus/setters.go MachineInfo writes it, lifecycle/predicate.go reads it.

It changes at a tick and at no other time. A resource that was removed stays with 0/0.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tests.fakes.kubelet.pods import Pod, requests_of
from tests.fakes.kubelet.release import Release
from tests.fakes.kubelet.reports import Counts, NodeReport


@dataclass(frozen=True, slots=True)
class Misfit:
    """GeneralPredicates said no."""

    resource: str
    requested: int
    used: int
    capacity: int

    @property
    def reason(self) -> str:
        return f"OutOf{self.resource}"

    @property
    def message(self) -> str:
        return (
            f"Node didn't have enough resource: {self.resource}, requested: {self.requested}, "
            f"used: {self.used}, capacity: {self.capacity}"
        )


@dataclass(slots=True)
class Node:
    """Outlives the kubelet: the API server has it."""

    capacity: dict[str, int] = field(default_factory=dict)
    allocatable: dict[str, int] = field(default_factory=dict)
    last: Counts = field(default_factory=lambda: Counts({}, {}))

    def update(self, counts: Counts) -> None:
        self.last = counts
        self.capacity.update(counts.capacity)
        self.capacity.update(dict.fromkeys(counts.removed, 0))
        self.allocatable = {**self.capacity, **counts.allocatable}

    def report(self) -> NodeReport:
        return NodeReport(dict(self.capacity), dict(self.allocatable))

    def misfit(
        self,
        pod: Pod,
        others: Iterable[Pod],
        held: Mapping[str, set[str]],
        release: Release,
    ) -> Misfit | None:
        """Check the pod against the Node as last written.

        held: devices in use, for a pod that has some; what is held counts as allocatable, so that
        a pod survives the loss of its plugin. Resources unknown to the Node are not checked.
        """
        allocatable = Counter(self.allocatable)
        for resource, devices in held.items():
            allocatable[resource] = max(allocatable[resource], len(devices))
        used = requests_of(others)
        claimed = {r for _, r in pod.claimed} if release.skips_claimed_resources else set()
        for resource, requested in pod.requests().items():
            if not requested or resource not in allocatable or resource in claimed:
                continue
            if requested > allocatable[resource] - used[resource]:
                return Misfit(resource, requested, used[resource], allocatable[resource])
        return None

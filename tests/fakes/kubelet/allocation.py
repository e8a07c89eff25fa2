"""Devices for the containers of a pod, at its admission: dm/manager.go Allocate.

Init containers hand their devices on to later containers; sidecars keep theirs. The call is made
even when every device is handed on, and always for one container alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.fakes.kubelet.affinity import Hint, Hints, Mask, single_numa_node
from tests.fakes.kubelet.endpoints import EndpointUnusable
from tests.fakes.kubelet.grpc_status import CallFailed
from tests.fakes.kubelet.holdings import NO_NODE, Holding
from tests.fakes.kubelet.ledger import Ledger
from tests.fakes.kubelet.panic import nil_dereference
from tests.fakes.kubelet.pods import Container, Pod
from tests.fakes.kubelet.selection import AllocationFailed, Selection
from tests.fakes.kubelet.setting import Setting


@dataclass(eq=False, slots=True)
class SourcesReady:
    """False from a restart until the pods were admitted again."""

    ready: bool = True
    running: frozenset[tuple[str, str]] = frozenset()  # what the runtime listed at the start


class Allocation:
    def __init__(
        self,
        ledger: Ledger,
        sources: SourcesReady,
        active: Callable[[], set[str]],
        setting: Setting,
    ) -> None:
        self.affinity: dict[tuple[str, str], Mask | None] = {}
        self._ledger = ledger
        self._sources = sources
        self._active = active
        self._release = setting.release
        self._hints = Hints(ledger.table, setting.release, setting.machine)
        self._machine = setting.machine
        self._aligned = setting.aligned
        self._rng = setting.rng
        self._reuse = _Reuse()

    def align(self, pod: Pod, container: Container) -> bool:
        """Fix the container's NUMA node; false if there is none that serves it."""
        if not self._aligned:
            return True
        hints = self.hints(pod, container)
        admitted, nodes = single_numa_node(self._machine, hints.values())
        if admitted:
            self.affinity[pod.uid, container.name] = nodes
        return admitted

    def hints(self, pod: Pod, container: Container) -> dict[str, list[Hint] | None]:
        self.reclaim()
        return {
            resource: self._resource_hints(pod, container, resource, count)
            for resource, count in container.requests.items()
            if self._ledger.is_plugin_resource(resource)
        }

    async def allocate(self, pod: Pod, container: Container) -> None:
        reuse = self._reuse.of(pod.uid)
        await self._allocate_each(pod, container, reuse)
        held = self._ledger.holdings.of_container(pod.uid, container.name)
        hands_on = container in pod.init and not container.sidecar
        for resource, holding in held.items():
            if hands_on:
                reuse.setdefault(resource, set()).update(holding.devices)
            else:
                reuse.setdefault(resource, set()).difference_update(holding.devices)

    def reclaim(self) -> None:
        """Free what pods held that are gone; not while pods are still missing after a restart."""
        if self._sources.ready:
            self._ledger.reclaim(self._active())

    async def _allocate_each(self, pod: Pod, container: Container, reuse: dict[str, set[str]]) -> None:
        changed = False
        resources = list(container.requests.items())
        self._rng.shuffle(resources)
        for resource, count in resources:
            claimed = (container.name, resource) in pod.claimed
            if claimed and self._release.skips_claimed_resources:
                continue
            if not self._ledger.is_plugin_resource(resource):
                continue  # the pod goes without
            self.reclaim()
            devices = await self._devices(pod, container, resource, count, reuse.get(resource))
            if devices:
                await self._ask(pod, container, resource, devices)
                changed = True
        if changed:
            self._ledger.save()

    async def _devices(
        self,
        pod: Pod,
        container: Container,
        resource: str,
        required: int,
        reusable: set[str] | None,
    ) -> set[str]:
        """Devices to call Allocate for; none if nothing is to be done."""
        holding = self._ledger.holdings.get(pod.uid, container.name, resource)
        if holding is not None and len(holding.devices) != required:
            raise AllocationFailed(
                f'pod "{pod.uid}" container "{container.name}" changed request for resource '
                f'"{resource}" from {len(holding.devices)} to {required}'
            )
        if not self._sources.ready and (pod.uid, container.name) in self._sources.running:
            return set()
        if resource not in self._ledger.table.healthy:
            raise AllocationFailed(f"cannot allocate unregistered device {resource}")
        healthy = self._ledger.table.healthy[resource]
        if not healthy:
            raise AllocationFailed(f"no healthy devices present; cannot allocate unhealthy devices {resource}")
        if holding is not None and not holding.devices <= healthy:
            raise AllocationFailed(
                f"previously allocated devices are no longer healthy; cannot allocate unhealthy devices {resource}"
            )
        if holding is not None or not required:
            return set()
        selection = Selection(self._ledger, resource, required, self._rng)
        nodes = self.affinity.get((pod.uid, container.name))
        return await selection.choose(reusable or set(), nodes)

    async def _ask(self, pod: Pod, container: Container, resource: str, devices: set[str]) -> None:
        endpoint = self._ledger.endpoints.primary.get(resource)
        if endpoint is None:
            self._ledger.recount()
            raise AllocationFailed(f"unknown Device Plugin {resource}")
        try:
            answer = await endpoint.live().allocate(list(devices))
        except (CallFailed, EndpointUnusable) as failure:
            self._ledger.recount()
            raise AllocationFailed(str(failure)) from None
        if not answer.container_responses:
            # No recount here: the devices stay in use until something else causes one.
            raise AllocationFailed("no containers return in allocation response ")
        per_node: dict[int, list[str]] = {}
        for device in devices:
            for node in self._nodes(resource, device) or [NO_NODE]:
                per_node.setdefault(node, []).append(device)
        holding = Holding(per_node, answer.container_responses[0])
        self._ledger.holdings.put(pod.uid, container.name, resource, holding)

    def _nodes(self, resource: str, device: str) -> list[int]:
        try:
            return self._ledger.table.nodes(resource, device)
        except KeyError:
            if self._release.panics_on_missing_device:
                raise nil_dereference(f"{device} left the list during its Allocate") from None
            return []

    def _resource_hints(self, pod: Pod, container: Container, resource: str, count: int) -> list[Hint] | None:
        if not self._ledger.table.has_topology(resource):
            return None
        holding = self._ledger.holdings.get(pod.uid, container.name, resource)
        if holding is not None:
            if len(holding.devices) != count:
                return []
            return self._hints.build(resource, holding.devices, (), count)
        available = self._ledger.table.healthy.get(resource, set()) - self._ledger.in_use.get(resource, set())
        reusable = self._reuse.of(pod.uid).get(resource, set())
        if len(available | reusable) < count:
            return []
        return self._hints.build(resource, available, reusable, count)


@dataclass(eq=False, slots=True)
class _Reuse:
    """Devices of init containers that are through; only for the pod being admitted."""

    _pod: str = ""
    _devices: dict[str, set[str]] = field(default_factory=dict)

    def of(self, pod: str) -> dict[str, set[str]]:
        if pod != self._pod:
            self._pod, self._devices = pod, {}
        return self._devices

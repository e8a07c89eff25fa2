"""The device part of making a container: dm/manager.go GetDeviceRunContainerOptions.

The answer of Allocate is kept and used again at every start. PreStartContainer, if the plugin
asked for it, is called at every start.
"""

import random
from collections.abc import Callable, Iterable
from typing import Any

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as dp
from tests.fakes.kubelet.allocation import Allocation
from tests.fakes.kubelet.endpoints import EndpointUnusable
from tests.fakes.kubelet.grpc_status import CallFailed
from tests.fakes.kubelet.ledger import Ledger
from tests.fakes.kubelet.pods import Container, Pod
from tests.fakes.kubelet.reports import ContainerStart
from tests.fakes.kubelet.selection import AllocationFailed


class ContainerStarts:
    def __init__(
        self,
        ledger: Ledger,
        allocation: Allocation,
        active: Callable[[], set[str]],
        rng: random.Random,
    ) -> None:
        self._ledger = ledger
        self._allocation = allocation
        self._active = active
        self._rng = rng

    async def start(self, pod: Pod, container: Container) -> ContainerStart:
        try:
            return await self._start(pod, container)
        except (AllocationFailed, EndpointUnusable) as failure:
            return ContainerStart(error=str(failure))

    async def _start(self, pod: Pod, container: Container) -> ContainerStart:
        holdings = self._ledger.holdings
        missing = False
        for resource, count in container.requests.items():
            if not count or not self._ledger.is_plugin_resource(resource):
                continue
            await self._pre_start(pod, container, resource)
            if pod.uid in self._active():
                missing |= holdings.get(pod.uid, container.name, resource) is None
        if missing:
            await self._allocation.allocate(pod, container)
        held = list(holdings.of_container(pod.uid, container.name).values())
        self._rng.shuffle(held)
        return merged([holding.answer for holding in held])

    async def _pre_start(self, pod: Pod, container: Container, resource: str) -> None:
        # Needed even by a plugin that never asked for the call: after the grace a missing
        # endpoint fails every container start.
        endpoint = self._ledger.endpoints.primary.get(resource)
        if endpoint is None:
            raise EndpointUnusable(f"endpoint not found in cache for a registered resource: {resource}")
        if endpoint.options is None or not endpoint.options.pre_start_required:
            return
        holding = self._ledger.holdings.get(pod.uid, container.name, resource)
        if holding is None:
            raise EndpointUnusable(
                f"no devices found allocated in local cache for pod {pod.uid}, "
                f"container {container.name}, resource {resource}"
            )
        try:
            await endpoint.live().pre_start(list(holding.devices))
        except (CallFailed, EndpointUnusable) as failure:
            raise EndpointUnusable(f"device plugin PreStartContainer rpc failed with err: {failure}") from None


def merged(answers: Iterable[dp.ContainerAllocateResponse]) -> ContainerStart:
    """One container from the answers of its resources; of a conflict, the first stays."""
    env: dict[str, str] = {}
    annotations: dict[str, str] = {}
    mounts: dict[str, dict[str, Any]] = {}
    devices: dict[str, dict[str, str]] = {}
    cdi: dict[str, None] = {}
    for answer in answers:
        env = {**answer.envs, **env}
        annotations = {**answer.annotations, **annotations}
        for mount in answer.mounts:
            entry = {
                "host": mount.host_path,
                "container": mount.container_path,
                "read_only": mount.read_only,
            }
            mounts.setdefault(mount.container_path, entry)
        for device in answer.devices:
            node = {
                "host": device.host_path,
                "container": device.container_path,
                "permissions": device.permissions,
            }
            devices.setdefault(device.container_path, node)
        cdi.update(dict.fromkeys(device.name for device in answer.cdi_devices))
    return ContainerStart(env, annotations, tuple(mounts.values()), tuple(devices.values()), tuple(cdi))

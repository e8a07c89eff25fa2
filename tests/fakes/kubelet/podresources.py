"""The pod-resources server: apis/podresources/server_v1.go, cm/container_manager.go, apis/grpc/ratelimit.go."""

import time
from collections.abc import Callable, Iterable
from typing import Any

import grpc

from adapters.kubelet.pb import podresources_v1_pb2 as pr
from adapters.kubelet.pb import podresources_v1_pb2_grpc as pr_grpc
from tests.fakes.kubelet.ledger import Ledger
from tests.fakes.kubelet.pods import Pod, PodTable
from tests.fakes.kubelet.setting import Setting

_RATE = 100.0
_BURST = 10.0


class RateLimit:
    """A token bucket: 100 calls a second, 10 at once."""

    def __init__(self) -> None:
        self._tokens = _BURST
        self._filled_at = time.monotonic()

    def allows(self) -> bool:
        now = time.monotonic()
        self._tokens = min(_BURST, self._tokens + (now - self._filled_at) * _RATE)
        self._filled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class PodResources(pr_grpc.PodResourcesListerServicer):
    def __init__(self, ledger: Ledger, pods: PodTable, reclaim: Callable[[], None], setting: Setting) -> None:
        self._ledger = ledger
        self._reclaim = reclaim
        self._pods = pods
        self._release = setting.release
        self._rng = setting.rng
        self._settled = setting.settled
        self._limit = RateLimit()

    async def List(  # noqa: N802
        self,
        request: pr.ListPodResourcesRequest,
        context: "grpc.aio.ServicerContext[pr.ListPodResourcesRequest, pr.ListPodResourcesResponse]",
    ) -> pr.ListPodResourcesResponse:
        await self._limited(context)
        active = self._release.lists_only_active_pods
        self._reclaim()
        pods = self._pods.active() if active else [entry.pod for entry in self._pods]
        listed = [self._pod(pod) for pod in pods]
        if self._settled:
            listed.append(pr.PodResources(name="plugin", namespace="kube-system"))
        return pr.ListPodResourcesResponse(pod_resources=listed)

    async def Get(  # noqa: N802
        self,
        request: pr.GetPodResourcesRequest,
        context: "grpc.aio.ServicerContext[pr.GetPodResourcesRequest, pr.GetPodResourcesResponse]",
    ) -> pr.GetPodResourcesResponse:
        await self._limited(context)
        if not self._release.gets_one_pod:
            return await context.abort(grpc.StatusCode.UNKNOWN, "PodResources API Get method disabled")
        for entry in self._pods:
            if (entry.pod.namespace, entry.pod.name) == (request.pod_namespace, request.pod_name):
                return pr.GetPodResourcesResponse(pod_resources=self._pod(entry.pod))
        text = f"pod {request.pod_name} in namespace {request.pod_namespace} not found"
        return await context.abort(grpc.StatusCode.UNKNOWN, text)

    async def GetAllocatableResources(  # noqa: N802
        self,
        request: pr.AllocatableResourcesRequest,
        context: ("grpc.aio.ServicerContext[pr.AllocatableResourcesRequest, pr.AllocatableResourcesResponse]"),
    ) -> pr.AllocatableResourcesResponse:
        """Healthy devices, used or not; one with an empty TopologyInfo has no row at all."""
        await self._limited(context)
        rows = []
        for resource, healthy in self._ledger.table.healthy.items():
            for device in healthy:
                listed = self._ledger.table.listed.get(resource, {}).get(device)
                if listed is None:
                    continue
                nodes = [node.ID for node in listed.topology.nodes]
                known = listed.HasField("topology")
                rows += _rows(resource, device, nodes if known else None)
        self._rng.shuffle(rows)
        return pr.AllocatableResourcesResponse(devices=rows)

    def _pod(self, pod: Pod) -> pr.PodResources:
        listed = [c for c in pod.in_order if c in pod.containers or c.sidecar]
        containers = [pr.ContainerResources(name=c.name, devices=self._held(pod.uid, c.name)) for c in listed]
        return pr.PodResources(name=pod.name, namespace=pod.namespace, containers=containers)

    def _held(self, pod: str, container: str) -> list[pr.ContainerDevices]:
        rows: list[pr.ContainerDevices] = []
        for resource, holding in self._ledger.holdings.of_container(pod, container).items():
            for device in holding.devices:
                rows += _rows(resource, device, holding.nodes(device) or None)
        self._rng.shuffle(rows)
        return rows

    async def _limited(self, context: "grpc.aio.ServicerContext[Any, Any]") -> None:
        if not self._limit.allows():
            text = "rejected by rate limit"
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, text)


def _rows(resource: str, device: str, nodes: Iterable[int] | None) -> list[pr.ContainerDevices]:
    """One row for each node of the device; a single one without a node if none is known."""
    if nodes is None:
        return [pr.ContainerDevices(resource_name=resource, device_ids=[device])]
    return [
        pr.ContainerDevices(
            resource_name=resource,
            device_ids=[device],
            topology=pr.TopologyInfo(nodes=[pr.NUMANode(ID=node)]),
        )
        for node in nodes
    ]

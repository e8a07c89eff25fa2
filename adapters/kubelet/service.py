"""The calls a kubelet makes to one pool. Sockets, registration and recovery are elsewhere (lifecycle.py)."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from time import monotonic
from typing import Any

import grpc

from adapters.kubelet.feed import Feed
from adapters.kubelet.messages import API_VERSION, container_response
from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb import pluginregistration_v1_pb2 as registration_pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginServicer
from adapters.kubelet.pb.pluginregistration_v1_pb2_grpc import RegistrationServicer
from adapters.kubelet.status import status_of
from adapters.kubelet.succession import one_waits
from application.ports.journal import Journal
from domain.errors import SriovError
from domain.exposure import Grant
from domain.resource_name import ResourceName

Allocate = Callable[[ResourceName, Sequence[Sequence[str]]], Awaitable[Sequence[Grant]]]
Context = grpc.aio.ServicerContext[Any, Any]


class PoolService(DevicePluginServicer):
    """v1beta1.DevicePlugin for one pool."""

    def __init__(self, resource: ResourceName, feed: Feed, allocate: Allocate, journal: Journal) -> None:
        self._resource = resource
        self._feed = feed
        self._allocate = allocate
        self._journal = journal
        self.streams = 0
        """Kubelets that listen."""
        self._last_heard = monotonic()
        self.awaited: Callable[[], None] = lambda: None
        """Called when another process tells that it waits to serve the pool."""

    @property
    def unheard(self) -> float | None:
        """Seconds since a kubelet listened, or since the pool came up; None while one does."""
        return None if self.streams else monotonic() - self._last_heard

    async def GetDevicePluginOptions(self, request: pb.Empty, context: Context) -> pb.DevicePluginOptions:
        if one_waits(context):
            self.awaited()
        # PreStartContainer is not asked for: it would make container restarts depend on this process being up.
        return pb.DevicePluginOptions()

    async def ListAndWatch(self, request: pb.Empty, context: Context) -> AsyncIterator[pb.ListAndWatchResponse]:
        self._journal.info("kubelet listens", resource=str(self._resource))
        self.streams += 1
        try:
            async for message in self._feed.messages():
                yield message
        finally:
            self.streams -= 1
            self._last_heard = monotonic()
            self._journal.info("kubelet stopped listening", resource=str(self._resource))

    async def Allocate(self, request: pb.AllocateRequest, context: Context) -> pb.AllocateResponse:
        containers = [list(container.devices_ids) for container in request.container_requests]
        try:
            grants = await self._allocate(self._resource, containers)
        except SriovError as error:
            await context.abort(status_of(error), str(error))
        except Exception as error:  # noqa: BLE001 - one odd call must end neither this pool nor the others
            self._journal.error("allocate failed", resource=str(self._resource), containers=containers, exc_info=True)
            await context.abort(grpc.StatusCode.INTERNAL, f"{self._resource}: {type(error).__name__}: {error}")
        return pb.AllocateResponse(container_responses=map(container_response, grants))

    async def GetPreferredAllocation(
        self, request: pb.PreferredAllocationRequest, context: Context
    ) -> pb.PreferredAllocationResponse:
        # Not offered in the options; an error would fail the pod, an empty answer leaves the choice to the kubelet.
        responses = [pb.ContainerPreferredAllocationResponse() for _ in request.container_requests]
        return pb.PreferredAllocationResponse(container_responses=responses)

    async def PreStartContainer(
        self, request: pb.PreStartContainerRequest, context: Context
    ) -> pb.PreStartContainerResponse:
        return pb.PreStartContainerResponse()


class IntroductionService(RegistrationServicer):
    """pluginregistration.Registration: how the kubelet's plugin watcher gets to know the pool."""

    def __init__(self, resource: ResourceName, endpoint: str, journal: Journal) -> None:
        self._resource = resource
        self._endpoint = endpoint
        self._journal = journal

    async def GetInfo(self, request: registration_pb.InfoRequest, context: Context) -> registration_pb.PluginInfo:
        return registration_pb.PluginInfo(
            type="DevicePlugin",
            name=str(self._resource),
            endpoint=self._endpoint,
            supported_versions=[API_VERSION],
        )

    async def NotifyRegistrationStatus(
        self, request: registration_pb.RegistrationStatus, context: Context
    ) -> registration_pb.RegistrationStatusResponse:
        # A refusal is no reason to stop: the kubelet tries again by itself (pkg/kubelet/pluginmanager).
        if request.plugin_registered:
            self._journal.info("registered", resource=str(self._resource), by="plugin watcher")
        else:
            self._journal.warning("kubelet refused registration", resource=str(self._resource), reason=request.error)
        return registration_pb.RegistrationStatusResponse()

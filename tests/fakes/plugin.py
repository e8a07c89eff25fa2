"""A scripted device plugin, right by default and as wrong as a test wants it.

It speaks to any kubelet below a directory, the fake one or the real one of testbed/kubelet.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import grpc
from google.protobuf.message import Message as Protobuf

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as dp
from adapters.kubelet.pb import deviceplugin_v1beta1_pb2_grpc as dp_grpc
from adapters.kubelet.pb import pluginregistration_v1_pb2 as reg
from adapters.kubelet.pb import pluginregistration_v1_pb2_grpc as reg_grpc

RESOURCE = "ex.com/dev"

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
# Gets the request and the context; an answer replaces the usual one, None leaves it.
Script = Callable[[Any, Context], Awaitable[Protobuf | None]]


@dataclass(frozen=True, slots=True)
class Seen:
    """One call the plugin got."""

    method: str
    request: Any
    deadline: float | None  # seconds left when it came, none if there is no deadline


class RegisterFailed(Exception):
    def __init__(self, error: grpc.aio.AioRpcError) -> None:
        super().__init__(f"{error.code().name}: {error.details()}")
        self.code = error.code()
        self.text = error.details() or ""


def device(identity: str, health: str = "Healthy", numa: Sequence[int] | None = None) -> dp.Device:
    """numa: none for no topology, an empty list for an empty TopologyInfo."""
    if numa is None:
        return dp.Device(ID=identity, health=health)
    nodes = [dp.NUMANode(ID=node) for node in numa]
    return dp.Device(ID=identity, health=health, topology=dp.TopologyInfo(nodes=nodes))


class ScriptedPlugin(dp_grpc.DevicePluginServicer, reg_grpc.RegistrationServicer):
    def __init__(
        self,
        directory: Path,
        resource: str = RESOURCE,
        devices: Iterable[str | dp.Device] = ("d0", "d1", "d2", "d3"),
        *,
        preferred: bool = False,
        pre_start: bool = False,
    ) -> None:
        self.resource = resource
        self.devices = [device(d) if isinstance(d, str) else d for d in devices]
        self.options = dp.DevicePluginOptions(
            pre_start_required=pre_start, get_preferred_allocation_available=preferred
        )
        self.info = reg.PluginInfo(type="DevicePlugin", name=resource, supported_versions=["v1beta1"])
        self.scripts: dict[str, Script] = {}
        self.seen: list[Seen] = []
        self.streams = 0
        self.path = directory
        self._directory = directory
        self._server: grpc.aio.Server | None = None
        self._news: set[asyncio.Queue[bool]] = set()

    # --- its life

    async def serve(self, name: str = "p.sock", *, watcher: bool = False) -> None:
        """Listen below device-plugins, or below plugins_registry with both services."""
        below = "plugins_registry" if watcher else "device-plugins"
        self.path = self._directory / below / name
        self._server = grpc.aio.server()
        dp_grpc.add_DevicePluginServicer_to_server(self, self._server)
        if watcher:
            reg_grpc.add_RegistrationServicer_to_server(self, self._server)
        self._server.add_insecure_port(f"unix:{self.path}")
        await self._server.start()

    async def register(self, *, within: float | None = 15.0, **fields: Any) -> None:
        """Register in the classic way; fields replace those of the request."""
        request = {"version": "v1beta1", "endpoint": self.path.name, "resource_name": self.resource}
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.default_authority", "localhost")]
        target = f"unix:{self._directory / 'device-plugins' / 'kubelet.sock'}"
        async with grpc.aio.insecure_channel(target, options=options) as channel:
            stub = dp_grpc.RegistrationStub(channel)
            try:
                await stub.Register(dp.RegisterRequest(**{**request, **fields}), timeout=within)
            except grpc.aio.AioRpcError as error:
                raise RegisterFailed(error) from None

    async def stop(self) -> None:
        """Die: streams end, the socket file goes."""
        server, self._server = self._server, None
        if server is not None:
            await self.end_streams()
            await server.stop(None)

    async def end_streams(self) -> None:
        """End ListAndWatch and go on serving."""
        self._tell(stream_goes_on=False)
        while self.streams:
            await asyncio.sleep(0.005)

    def push(self, **health: str) -> None:
        """Send the list, after changing the health of these devices."""
        for changed in self.devices:
            changed.health = health.get(changed.ID, changed.health)
        self._tell(stream_goes_on=True)

    def drop(self, *identities: str) -> None:
        """Send the list without these devices."""
        self.devices = [d for d in self.devices if d.ID not in identities]
        self._tell(stream_goes_on=True)

    def requests(self, method: str) -> list[Any]:
        return [seen.request for seen in self.seen if seen.method == method]

    @property
    def methods(self) -> list[str]:
        return [seen.method for seen in self.seen]

    # --- its services

    async def GetDevicePluginOptions(  # noqa: N802
        self, request: dp.Empty, context: Context
    ) -> Any:
        return await self._act("GetDevicePluginOptions", request, context) or self.options

    async def ListAndWatch(  # noqa: N802
        self, request: dp.Empty, context: Context
    ) -> AsyncIterator[dp.ListAndWatchResponse]:
        news: asyncio.Queue[bool] = asyncio.Queue()
        self._news.add(news)
        self.streams += 1
        try:
            await self._act("ListAndWatch", request, context)
            goes_on = True
            while goes_on:
                yield dp.ListAndWatchResponse(devices=self.devices)
                goes_on = await news.get()
        finally:
            self.streams -= 1
            self._news.discard(news)

    async def GetPreferredAllocation(  # noqa: N802
        self, request: dp.PreferredAllocationRequest, context: Context
    ) -> Any:
        if answer := await self._act("GetPreferredAllocation", request, context):
            return answer
        wanted = request.container_requests[0]
        chosen = sorted(wanted.available_deviceIDs)[: wanted.allocation_size]
        return preferring(chosen)

    async def Allocate(  # noqa: N802
        self, request: dp.AllocateRequest, context: Context
    ) -> Any:
        if answer := await self._act("Allocate", request, context):
            return answer
        return dp.AllocateResponse(container_responses=[granting(c.devices_ids) for c in request.container_requests])

    async def PreStartContainer(  # noqa: N802
        self, request: dp.PreStartContainerRequest, context: Context
    ) -> Any:
        answer = await self._act("PreStartContainer", request, context)
        return answer or dp.PreStartContainerResponse()

    async def GetInfo(self, request: reg.InfoRequest, context: Context) -> Any:  # noqa: N802
        return await self._act("GetInfo", request, context) or self.info

    async def NotifyRegistrationStatus(  # noqa: N802
        self, request: reg.RegistrationStatus, context: Context
    ) -> Any:
        answer = await self._act("NotifyRegistrationStatus", request, context)
        return answer or reg.RegistrationStatusResponse()

    # --- inside

    async def _act(self, method: str, request: Protobuf, context: Context) -> Protobuf | None:
        self.seen.append(Seen(method, request, context.time_remaining()))
        script = self.scripts.get(method)
        return await script(request, context) if script else None

    def _tell(self, *, stream_goes_on: bool) -> None:
        for news in self._news:
            news.put_nowait(stream_goes_on)


def granting(devices: Iterable[str]) -> dp.ContainerAllocateResponse:
    """An answer with something of every kind in it, made from the ids."""
    ids = sorted(devices)
    return dp.ContainerAllocateResponse(
        envs={"DEVS": ",".join(ids)},
        annotations={"ex.com/ids": ",".join(ids)},
        mounts=[dp.Mount(container_path="/etc/x", host_path="/etc", read_only=True)],
        devices=[dp.DeviceSpec(container_path=f"/dev/{i}", host_path="/dev/null", permissions="rw") for i in ids],
        cdi_devices=[dp.CDIDevice(name=f"ex.com/dev={i}") for i in ids],
    )


def preferring(devices: Iterable[str]) -> dp.PreferredAllocationResponse:
    response = dp.ContainerPreferredAllocationResponse(deviceIDs=list(devices))
    return dp.PreferredAllocationResponse(container_responses=[response])


def failing(code: grpc.StatusCode, text: str, times: int | None = None) -> Script:
    """Fail so often (none: always) and then behave."""
    left = [times]

    async def script(request: Any, context: Context) -> None:
        if left[0] is None or left[0] > 0:
            left[0] = left[0] if left[0] is None else left[0] - 1
            await context.abort(code, text)

    return script


def slow(seconds: float) -> Script:
    async def script(request: Any, context: Context) -> None:
        await asyncio.sleep(seconds)

    return script


def answering(answer: Protobuf) -> Script:
    async def script(request: Any, context: Context) -> Protobuf:
        return answer

    return script

"""The plugin as the kubelet's side of the wire sees it: one connection to one socket."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grpc import aio

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as api
from adapters.kubelet.pb import deviceplugin_v1beta1_pb2_grpc as rpc
from adapters.kubelet.pb import pluginregistration_v1_pb2 as registration
from adapters.kubelet.pb import pluginregistration_v1_pb2_grpc as registration_rpc

#: Seconds for any call.
PATIENCE: Final = 30.0


@dataclass(frozen=True, slots=True)
class Plugin:
    """A connection to a plugin's socket; answers are plain data in the form of the recordings."""

    channel: aio.Channel

    async def info(self) -> dict[str, Any]:
        stub = registration_rpc.RegistrationStub(self.channel)
        info = await stub.GetInfo(registration.InfoRequest(), wait_for_ready=True, timeout=PATIENCE)
        return {
            "type": info.type,
            "name": info.name,
            "endpoint": info.endpoint,
            "supported_versions": list(info.supported_versions),
        }

    async def registered(self) -> None:
        """Tell the plugin that the kubelet has taken it."""
        status = registration.RegistrationStatus(plugin_registered=True)
        stub = registration_rpc.RegistrationStub(self.channel)
        await stub.NotifyRegistrationStatus(status, timeout=PATIENCE)

    async def options(self) -> dict[str, bool]:
        stub = rpc.DevicePluginStub(self.channel)
        options = await stub.GetDevicePluginOptions(api.Empty(), wait_for_ready=True, timeout=PATIENCE)
        return options_of(options)

    def lists(self) -> "aio.UnaryStreamCall[api.Empty, api.ListAndWatchResponse]":
        """Open ListAndWatch."""
        return rpc.DevicePluginStub(self.channel).ListAndWatch(api.Empty())

    async def allocate(self, request: list[list[str]]) -> Any:
        """Ask for devices; *request* holds the ids of each container."""
        wanted = api.AllocateRequest(
            container_requests=[api.ContainerAllocateRequest(devices_ids=ids) for ids in request]
        )
        try:
            answer = await rpc.DevicePluginStub(self.channel).Allocate(wanted, timeout=PATIENCE)
        except aio.AioRpcError as refused:
            return {"error": {"code": refused.code().name, "message": refused.details()}}
        return [_response(response) for response in answer.container_responses]


@asynccontextmanager
async def connected(socket: Path) -> AsyncIterator[Plugin]:
    """Connect; a socket may be there a moment before anyone listens on it."""
    quick = [("grpc.initial_reconnect_backoff_ms", 20), ("grpc.max_reconnect_backoff_ms", 100)]
    async with aio.insecure_channel(f"unix:{socket}", options=quick) as channel:
        yield Plugin(channel)


def options_of(options: api.DevicePluginOptions) -> dict[str, bool]:
    return {
        "pre_start_required": options.pre_start_required,
        "get_preferred_allocation_available": options.get_preferred_allocation_available,
    }


def devices_of(message: api.ListAndWatchResponse) -> list[dict[str, Any]]:
    """The devices of a message, sorted by id."""
    devices = [
        {
            "id": device.ID,
            "health": device.health,
            "numa": [n.ID for n in device.topology.nodes] if device.HasField("topology") else None,
        }
        for device in message.devices
    ]
    return sorted(devices, key=lambda d: str(d["id"]))


def _response(response: api.ContainerAllocateResponse) -> dict[str, Any]:
    return {
        "envs": dict(response.envs),
        "devices": [[d.host_path, d.container_path, d.permissions] for d in response.devices],
        "mounts": [
            {"host": m.host_path, "container": m.container_path, "read_only": m.read_only} for m in response.mounts
        ],
        "annotations": dict(response.annotations),
        "cdi_devices": [device.name for device in response.cdi_devices],
    }

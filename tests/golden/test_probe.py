"""The prober hears what a plugin says, here a scripted one."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as api
from adapters.kubelet.pb import deviceplugin_v1beta1_pb2_grpc as rpc
from adapters.kubelet.pb import pluginregistration_v1_pb2 as registration
from adapters.kubelet.pb import pluginregistration_v1_pb2_grpc as registration_rpc
from tests.golden.case import Answer
from tests.golden.probe import Request, probing
from tests.golden.registry import registry
from tests.hosts.ground import temporary_directory

# ruff: noqa: N802 - RPC names are those of the wire


class Script(rpc.DevicePluginServicer, registration_rpc.RegistrationServicer):
    """Two devices, one of which is refused."""

    def __init__(self) -> None:
        self.notified = asyncio.Event()

    async def GetInfo(self, request: Any, context: Any) -> registration.PluginInfo:
        return registration.PluginInfo(type="DevicePlugin", name="x.com/p", supported_versions=["v1beta1"])

    async def NotifyRegistrationStatus(self, request: Any, context: Any) -> registration.RegistrationStatusResponse:
        self.notified.set()
        return registration.RegistrationStatusResponse()

    async def GetDevicePluginOptions(self, request: Any, context: Any) -> api.DevicePluginOptions:
        return api.DevicePluginOptions(get_preferred_allocation_available=True)

    async def ListAndWatch(self, request: Any, context: Any) -> Any:
        topology = api.TopologyInfo(nodes=[api.NUMANode(ID=1)])
        yield api.ListAndWatchResponse(
            devices=[api.Device(ID="b", health="Unhealthy"), api.Device(ID="a", health="Healthy", topology=topology)]
        )
        await asyncio.Event().wait()

    async def Allocate(self, request: api.AllocateRequest, context: Any) -> api.AllocateResponse:
        ids = [list(c.devices_ids) for c in request.container_requests]
        if ["b"] in ids:
            await context.abort(grpc.StatusCode.NOT_FOUND, "b is gone")
        node = api.DeviceSpec(host_path="/dev/a", container_path="/dev/a", permissions="rw")
        response = api.ContainerAllocateResponse(envs={"V": "a"}, devices=[node], annotations={"k": "v"})
        return api.AllocateResponse(container_responses=[response for _ in ids])

    async def GetPreferredAllocation(self, request: Any, context: Any) -> Any:
        raise AssertionError("not asked")

    async def PreStartContainer(self, request: Any, context: Any) -> Any:
        raise AssertionError("not asked")


async def heard(socket: Path, requests: list[Request]) -> tuple[Answer, bool]:
    server, script = aio.server(), Script()
    rpc.add_DevicePluginServicer_to_server(script, server)
    registration_rpc.add_RegistrationServicer_to_server(script, server)
    server.add_insecure_port(f"unix:{socket}")
    await server.start()
    try:
        async with probing({"x.com/p": requests}) as probe:
            await probe.watched(socket)
            return probe.answers["x.com/p"], script.notified.is_set()
    finally:
        await server.stop(grace=None)


@pytest.fixture
def answer() -> Answer:
    with temporary_directory() as base:
        found, notified = asyncio.run(heard(base / "p.sock", [[["a"], ["a"]], [["b"]]]))
    assert notified
    return found


def test_a_resource_introduces_itself(answer: Answer) -> None:
    assert answer["socket"] == "p.sock"
    assert answer["info"] == {
        "type": "DevicePlugin",
        "name": "x.com/p",
        "endpoint": "",
        "supported_versions": ["v1beta1"],
    }
    assert answer["options"] == {"pre_start_required": False, "get_preferred_allocation_available": True}


def test_devices_are_sorted_by_id(answer: Answer) -> None:
    assert answer["devices"] == [
        {"id": "a", "health": "Healthy", "numa": [1]},
        {"id": "b", "health": "Unhealthy", "numa": None},
    ]


def test_calls_have_a_response_a_container_or_an_error(answer: Answer) -> None:
    granted, refused = answer["calls"]

    assert granted["request"] == [["a"], ["a"]]
    assert granted["response"] == 2 * [
        {
            "envs": {"V": "a"},
            "devices": [["/dev/a", "/dev/a", "rw"]],
            "mounts": [],
            "annotations": {"k": "v"},
            "cdi_devices": [],
        }
    ]
    assert refused["response"] == {"error": {"code": "NOT_FOUND", "message": "b is gone"}}


def test_the_classic_registry_keeps_what_is_registered() -> None:
    async def register(socket: Path) -> dict[str, Any]:
        async with registry(socket) as service, aio.insecure_channel(f"unix:{socket}") as channel:
            request = api.RegisterRequest(version="v1beta1", endpoint="p.sock", resource_name="x.com/p")
            await rpc.RegistrationStub(channel).Register(request)
            return service.calls.get_nowait()

    with temporary_directory() as base:
        got = asyncio.run(register(base / "kubelet.sock"))

    assert got == {"version": "v1beta1", "endpoint": "p.sock", "resource_name": "x.com/p", "options": None}

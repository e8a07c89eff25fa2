"""What a pool's socket answers, and whose socket it is: real gRPC, no kubelet."""

import asyncio
import os
import socket
from pathlib import Path

import grpc
import pytest

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb import pluginregistration_v1_pb2 as registration_pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub
from adapters.kubelet.pb.pluginregistration_v1_pb2_grpc import RegistrationStub
from domain.errors import FacilityMissing, UnknownDevice
from tests.contract.pool_plugin import ENTRIES, P, plugin, registry, served, until

REQUEST = pb.AllocateRequest(container_requests=[pb.ContainerAllocateRequest(devices_ids=["x"])])


def test_devices_without_a_numa_node_have_no_topology_at_all(short_path: Path) -> None:
    """Facts 5.4: an empty topology hides a device, -1 is the kubelet's own mark."""

    async def story() -> None:
        async with served(short_path) as (_, channel):
            message = await anext(aiter(DevicePluginStub(channel).ListAndWatch(pb.Empty())))
        assert [d.ID for d in message.devices] == [e.id for e in ENTRIES]
        assert [d.health for d in message.devices] == ["Healthy", "Healthy", "Unhealthy"]
        assert [d.HasField("topology") for d in message.devices] == [True, False, False]
        assert [n.ID for n in message.devices[0].topology.nodes] == [0]

    asyncio.run(story())


def test_abandoned_streams_leave_nothing_and_stop_nothing(short_path: Path) -> None:
    """Cases A03, A04, I02."""

    async def story() -> None:
        async with served(short_path) as (under_test, channel):
            before = len(asyncio.all_tasks())
            stub = DevicePluginStub(channel)
            for _ in range(50):
                call = stub.ListAndWatch(pb.Empty())
                await anext(aiter(call))
                call.cancel()
            answer = await stub.Allocate(REQUEST, timeout=60)
            assert len(answer.container_responses) == 1
            await until(lambda: len(under_test.journal.told("kubelet stopped listening")) == 50)
            await channel.close()
            await until(lambda: len(asyncio.all_tasks()) <= before)

    asyncio.run(story())


def test_a_live_owner_of_the_socket_is_not_robbed_and_a_dead_one_is_replaced(short_path: Path) -> None:
    """Case A08."""

    async def story() -> None:
        path = registry(short_path) / "intel.com_p.sock"
        owner = socket.socket(socket.AF_UNIX)
        owner.bind(str(path))
        owner.listen()
        inode = path.stat().st_ino
        async with plugin(short_path) as second:
            await second.publisher.publish(P, ENTRIES)
            await until(lambda: second.journal.told("not served yet"))
            await asyncio.sleep(0.5)
            assert path.stat().st_ino == inode
            (told,) = second.journal.told("not served yet")
            assert f"process {os.getpid()}" in told["reason"]
            owner.close()  # dead now: the file stays
            await until(lambda: second.journal.told("serving"))
        assert not path.exists()

    asyncio.run(story())


def test_a_file_that_is_no_socket_is_left_alone_and_told(short_path: Path) -> None:
    async def story() -> None:
        path = registry(short_path) / "intel.com_p.sock"
        path.write_text("precious", encoding="utf-8")
        async with plugin(short_path) as under_test:
            await under_test.publisher.publish(P, ENTRIES)
            await until(lambda: under_test.journal.told("not served yet"))
        assert path.read_text(encoding="utf-8") == "precious"
        assert "no socket" in under_test.journal.told("not served yet")[0]["reason"]

    asyncio.run(story())


def test_a_stop_does_not_take_away_the_socket_of_a_successor(short_path: Path) -> None:
    async def story() -> None:
        path = registry(short_path) / "intel.com_p.sock"
        async with plugin(short_path) as first:
            await first.publisher.publish(P, ENTRIES)
            await until(path.exists)
            path.unlink()
            successor = socket.socket(socket.AF_UNIX)
            successor.bind(str(path))
        assert path.is_socket()
        successor.close()

    asyncio.run(story())


@pytest.mark.parametrize(
    ("elsewhere", "endpoint"),
    [(None, ""), (Path("/opt/kubelet"), "/opt/kubelet/plugins_registry/intel.com_p.sock")],
)
def test_the_endpoint_is_told_only_where_the_kubelet_sees_another_path(
    elsewhere: Path | None, endpoint: str, short_path: Path
) -> None:
    """Case A06."""

    async def story() -> None:
        async with served(short_path, elsewhere) as (_, channel):
            info = await RegistrationStub(channel).GetInfo(registration_pb.InfoRequest())
        assert info.endpoint == endpoint
        assert (info.type, info.name, list(info.supported_versions)) == ("DevicePlugin", str(P), ["v1beta1"])

    asyncio.run(story())


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (UnknownDevice("x", P), grpc.StatusCode.NOT_FOUND, "x is not in pool intel.com/p"),
        (FacilityMissing("x", "vfio", "/dev/vfio/3"), grpc.StatusCode.FAILED_PRECONDITION, "/dev/vfio/3"),
        (ZeroDivisionError("odd"), grpc.StatusCode.INTERNAL, "ZeroDivisionError: odd"),
    ],
)
def test_an_error_of_one_call_is_its_answer_and_ends_nothing_else(
    error: Exception, code: grpc.StatusCode, text: str, short_path: Path
) -> None:
    """Case I05."""

    async def story() -> None:
        async with served(short_path) as (under_test, channel):
            stub = DevicePluginStub(channel)
            stream = stub.ListAndWatch(pb.Empty())
            await anext(aiter(stream))
            under_test.error = error
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stub.Allocate(REQUEST)
            assert caught.value.code() is code
            assert text in (caught.value.details() or "")
            under_test.error = None
            await stub.Allocate(REQUEST)
            assert not stream.done()

    asyncio.run(story())


def test_a_refused_notification_stops_nothing(short_path: Path) -> None:
    """Facts 3.3: the kubelet tries again by itself."""

    async def story() -> None:
        async with served(short_path) as (under_test, channel):
            stub = RegistrationStub(channel)
            status = registration_pb.RegistrationStatus(plugin_registered=False, error="not now")
            await stub.NotifyRegistrationStatus(status)
            await stub.GetInfo(registration_pb.InfoRequest())
            assert under_test.journal.told("kubelet refused registration")[0]["reason"] == "not now"

    asyncio.run(story())

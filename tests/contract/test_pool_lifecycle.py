"""What a pool's server does when sockets, kubelets and streams come and go: real gRPC over real sockets."""

import asyncio
import os
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb import pluginregistration_v1_pb2 as registration_pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub
from adapters.kubelet.pb.pluginregistration_v1_pb2_grpc import RegistrationStub
from adapters.kubelet.publisher import KubeletPaths, KubeletPublisher, Registration
from domain.announcement import Announced
from domain.errors import FacilityMissing, UnknownDevice
from domain.exposure import DeviceNode, Grant
from domain.resource_name import ResourceName
from tests.fakes.journal import FakeJournal
from tests.fakes.kubelet import EAGER, FakeKubelet

P = ResourceName("intel.com", "p")
Q = ResourceName("intel.com", "q")
ENTRIES = (Announced("0000:3b:01.0", 0), Announced("0000:3b:01.1"), Announced("0000:3b:01.2", fault="gone"))
WAYS = ["watcher", "classic"]


class Plugin:
    """A publisher on a kubelet's directory, with Allocate in the test's hands."""

    def __init__(self, directory: Path, host: Path | None = None, way: Registration = Registration.AUTO) -> None:
        self.journal = FakeJournal()
        self.error: Exception | None = None
        self.publisher = KubeletPublisher(KubeletPaths(directory, host or directory), way, self._allocate, self.journal)

    async def _allocate(self, resource: ResourceName, containers: object) -> list[Grant]:
        if self.error:
            raise self.error
        return [Grant({"A": "b"}, (DeviceNode("/dev/x", "/dev/y"),)) for _ in containers]  # type: ignore[attr-defined]


@asynccontextmanager
async def plugin(
    directory: Path, host: Path | None = None, way: Registration = Registration.AUTO
) -> AsyncIterator[Plugin]:
    under_test = Plugin(directory, host, way)
    try:
        yield under_test
    finally:
        await under_test.publisher.stop()


def ours(directory: Path) -> list[Path]:
    return [p for p in directory.glob("*/*") if p.name != "kubelet.sock" and p.is_socket()]


async def until(condition: object, within: float = 60.0) -> None:
    async with asyncio.timeout(within):
        while not condition():  # type: ignore[operator]
            await asyncio.sleep(0.02)  # files tell nobody when they change


@pytest.mark.parametrize("way", WAYS)
def test_a_registered_pool_tells_health_and_topology_and_answers_allocate(way: str, short_path: Path) -> None:
    async def story() -> None:
        async with (
            FakeKubelet(short_path, timing=EAGER, watcher=way == "watcher") as kubelet,
            plugin(short_path) as under_test,
        ):
            await under_test.publisher.publish(P, ENTRIES)
            await kubelet.wait_registered(str(P), 60)
            assert kubelet.counts(str(P)) == (3, 2)
            admitted = await kubelet.admit("pod", {str(P): 1})
            started = admitted.containers["c0"]
            assert started.env == {"A": "b"}
            assert started.devices == ({"host": "/dev/x", "container": "/dev/y", "permissions": "rw"},)

    asyncio.run(story())


def test_devices_without_a_numa_node_have_no_topology_at_all(short_path: Path) -> None:
    """Facts 5.4: an empty topology hides a device, -1 is the kubelet's own mark."""

    async def story() -> None:
        (short_path / "plugins_registry").mkdir()
        async with plugin(short_path) as under_test:
            await under_test.publisher.publish(P, ENTRIES)
            path = short_path / "plugins_registry" / "intel.com_p.sock"
            await until(path.exists)
            async with grpc.aio.insecure_channel(f"unix:{path}") as channel:
                message = await anext(aiter(DevicePluginStub(channel).ListAndWatch(pb.Empty())))
        assert [d.ID for d in message.devices] == [e.id for e in ENTRIES]
        assert [d.health for d in message.devices] == ["Healthy", "Healthy", "Unhealthy"]
        assert [d.HasField("topology") for d in message.devices] == [True, False, False]
        assert [n.ID for n in message.devices[0].topology.nodes] == [0]

    asyncio.run(story())


def test_an_unchanged_list_is_not_sent_again(short_path: Path) -> None:
    """Case B09."""

    async def story() -> None:
        async with FakeKubelet(short_path, timing=EAGER) as kubelet, plugin(short_path) as under_test:
            for _ in range(5):
                await under_test.publisher.publish(P, ENTRIES)
            await kubelet.wait_registered(str(P), 60)
            for _ in range(5):
                await under_test.publisher.publish(P, ENTRIES)
            await under_test.publisher.publish(P, ENTRIES[:1])
            await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (1, 1))
            assert len(kubelet.messages(str(P))) == 2

    asyncio.run(story())


@pytest.mark.parametrize("way", WAYS)
def test_a_socket_that_somebody_removes_is_served_anew(way: str, short_path: Path) -> None:
    """Cases A01, I03; the other pool is not touched."""

    async def story() -> None:
        async with (
            FakeKubelet(short_path, timing=EAGER, watcher=way == "watcher") as kubelet,
            plugin(short_path) as under_test,
        ):
            await under_test.publisher.publish(P, ENTRIES)
            await under_test.publisher.publish(Q, ENTRIES)
            for pool in (P, Q):
                await kubelet.wait_registered(str(pool), 60)
            streams = len(kubelet.calls_of("ListAndWatch", str(Q)))
            (victim,) = (s for s in ours(short_path) if "_p" in s.name)
            victim.unlink()
            before = len(kubelet.calls_of("ListAndWatch", str(P)))
            await kubelet.wait_for(lambda: len(kubelet.calls_of("ListAndWatch", str(P))) > before, 60)
            await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (3, 2), 60)
            assert len(kubelet.calls_of("ListAndWatch", str(Q))) == streams

    asyncio.run(story())


@pytest.mark.parametrize("version", ["1.32", "1.37"])
@pytest.mark.parametrize("way", WAYS)
def test_pools_are_back_after_a_restart_of_the_kubelet(way: str, version: str, short_path: Path) -> None:
    """Cases A02, A03: one Register for each kubelet, on a path of its own; no device is handed out again."""

    async def story() -> None:
        async with (
            FakeKubelet(short_path, timing=EAGER, watcher=way == "watcher", version=version) as kubelet,
            plugin(short_path) as under_test,
        ):
            await under_test.publisher.publish(P, ENTRIES)
            await kubelet.wait_registered(str(P), 60)
            assert (await kubelet.admit("pod", {str(P): 1})).admitted
            for _ in range(3):
                readmitted = await kubelet.restart(down_s=0.3)
                assert readmitted["pod"].admitted
                await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (3, 2), 60)
            assert len(kubelet.calls_of("Allocate")) == 1
            if way == "classic":
                endpoints = [
                    call.argument.endpoint  # type: ignore[attr-defined]
                    for call in kubelet.calls_of("Register")
                ]
                assert len(set(endpoints)) == len(endpoints) == 4
            assert len(ours(short_path)) == 1

    asyncio.run(story())


def test_a_pool_waits_for_a_kubelet_that_is_not_there_yet(short_path: Path) -> None:
    """Case A02: not served before, since a starting kubelet sweeps the directory; said once."""

    async def story() -> None:
        (short_path / "device-plugins").mkdir()
        async with plugin(short_path) as under_test:
            await under_test.publisher.publish(P, ENTRIES)
            await asyncio.sleep(0.7)
            assert ours(short_path) == []
            assert len(under_test.journal.told("not served yet")) == 1
            async with FakeKubelet(short_path, timing=EAGER, watcher=False) as kubelet:
                await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (3, 2), 60)

    asyncio.run(story())


def test_abandoned_streams_leave_nothing_and_stop_nothing(short_path: Path) -> None:
    """Cases A03, A04, I02."""

    async def story() -> None:
        (short_path / "plugins_registry").mkdir()
        async with plugin(short_path) as under_test:
            await under_test.publisher.publish(P, ENTRIES)
            path = short_path / "plugins_registry" / "intel.com_p.sock"
            await until(path.exists)
            before = len(asyncio.all_tasks())
            async with grpc.aio.insecure_channel(f"unix:{path}") as channel:
                stub = DevicePluginStub(channel)
                for _ in range(50):
                    call = stub.ListAndWatch(pb.Empty())
                    await anext(aiter(call))
                    call.cancel()
                answer = await stub.Allocate(
                    pb.AllocateRequest(container_requests=[pb.ContainerAllocateRequest(devices_ids=["x"])]), timeout=60
                )
                assert len(answer.container_responses) == 1
                await until(lambda: len(under_test.journal.told("kubelet stopped listening")) == 50)
            await until(lambda: len(asyncio.all_tasks()) <= before)

    asyncio.run(story())


def test_a_live_owner_of_the_socket_is_not_robbed_and_a_dead_one_is_replaced(short_path: Path) -> None:
    """Case A08."""

    async def story() -> None:
        registry = short_path / "plugins_registry"
        registry.mkdir()
        path = registry / "intel.com_p.sock"
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
        registry = short_path / "plugins_registry"
        registry.mkdir()
        path = registry / "intel.com_p.sock"
        path.write_text("precious", encoding="utf-8")
        async with plugin(short_path) as under_test:
            await under_test.publisher.publish(P, ENTRIES)
            await until(lambda: under_test.journal.told("not served yet"))
        assert path.read_text(encoding="utf-8") == "precious"
        assert "no socket" in under_test.journal.told("not served yet")[0]["reason"]

    asyncio.run(story())


def test_nothing_is_left_in_the_directory_after_a_stop(short_path: Path) -> None:
    async def story() -> None:
        async with FakeKubelet(short_path, timing=EAGER) as kubelet:
            async with plugin(short_path) as under_test:
                for pool in (P, Q):
                    await under_test.publisher.publish(pool, ENTRIES)
                    await kubelet.wait_registered(str(pool), 60)
                assert len(ours(short_path)) == 2
                assert {stat.S_IMODE(s.stat().st_mode) for s in ours(short_path)} == {0o600}
            assert os.listdir(short_path / "plugins_registry") == []  # noqa: PTH208

    asyncio.run(story())


def test_a_stop_does_not_take_away_the_socket_of_a_successor(short_path: Path) -> None:
    async def story() -> None:
        registry = short_path / "plugins_registry"
        registry.mkdir()
        path = registry / "intel.com_p.sock"
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
        (short_path / "plugins_registry").mkdir()
        async with plugin(short_path, elsewhere) as under_test:
            await under_test.publisher.publish(P, ENTRIES)
            path = short_path / "plugins_registry" / "intel.com_p.sock"
            await until(path.exists)
            async with grpc.aio.insecure_channel(f"unix:{path}") as channel:
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
        (short_path / "plugins_registry").mkdir()
        async with plugin(short_path) as under_test:
            await under_test.publisher.publish(P, ENTRIES)
            path = short_path / "plugins_registry" / "intel.com_p.sock"
            await until(path.exists)
            request = pb.AllocateRequest(container_requests=[pb.ContainerAllocateRequest(devices_ids=["x"])])
            async with grpc.aio.insecure_channel(f"unix:{path}") as channel:
                stub = DevicePluginStub(channel)
                stream = stub.ListAndWatch(pb.Empty())
                await anext(aiter(stream))
                under_test.error = error
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await stub.Allocate(request)
                assert caught.value.code() is code
                assert text in (caught.value.details() or "")
                under_test.error = None
                await stub.Allocate(request)
                assert not stream.done()

    asyncio.run(story())


@pytest.mark.parametrize("version", ["1.34", "1.37"])
def test_a_refused_notification_stops_nothing(version: str, short_path: Path) -> None:
    """Facts 3.3: the kubelet tries again by itself."""

    async def story() -> None:
        (short_path / "plugins_registry").mkdir()
        async with plugin(short_path) as under_test:
            await under_test.publisher.publish(P, ENTRIES)
            path = short_path / "plugins_registry" / "intel.com_p.sock"
            await until(path.exists)
            async with grpc.aio.insecure_channel(f"unix:{path}") as channel:
                stub = RegistrationStub(channel)
                status = registration_pb.RegistrationStatus(plugin_registered=False, error="not now")
                await stub.NotifyRegistrationStatus(status)
                await stub.GetInfo(registration_pb.InfoRequest())
            assert under_test.journal.told("kubelet refused registration")[0]["reason"] == "not now"

    asyncio.run(story())

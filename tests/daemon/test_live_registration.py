"""Sockets, registrations and streams that come and go under a running daemon."""

import asyncio
import os
import signal
import socket

import grpc
import pytest

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub
from tests.daemon.live import CLASSIC, DPDK, IDS, KERN, WATCHER, WITHIN, live
from tests.daemon.quiet import Quiet
from tests.hosts.named import demo, h1, h2

WAYS = pytest.mark.parametrize("way", [WATCHER, CLASSIC])


@WAYS
def test_a_removed_socket_is_there_again_and_the_other_pool_has_not_noticed(way: str) -> None:
    """Case A01."""

    async def story() -> None:
        async with live(demo(), KERN, DPDK, way=way) as node:
            await node.start()
            await node.served("kern", 8)
            await node.served("dpdk", 8)
            path, others = node.socket("kern"), node.streams("dpdk")
            path.unlink()
            await node.until(lambda: node.streams("kern") == 2)
            await node.served("kern", 8)
            assert len(node.lists("kern")[-1].devices) == 8
            assert node.socket("kern").is_socket()
            assert (node.socket("kern") == path) is (way == WATCHER)
            assert (node.streams("dpdk"), len(node.lists("dpdk"))) == (others, 1)
            assert len(node.sockets()) == 2

    asyncio.run(story())


def test_a_stream_of_a_dead_kubelet_takes_no_update_from_the_living_one() -> None:
    """Case A03."""

    async def story() -> None:
        async with live(h2(), DPDK) as node:
            await node.start()
            await node.served("dpdk", 4)
            await node.kubelet.restart(down_s=0.2)
            await node.served("dpdk", 4)
            before = len(node.lists("dpdk"))
            node.laid.tree.delete("dev/vfio/102")
            await node.counts("dpdk", 4, 3)
            assert node.health("dpdk")[IDS[1]] == "Unhealthy"
            assert len(node.lists("dpdk")) == before + 1

    asyncio.run(story())


def test_streams_that_are_reset_after_their_first_list_hinder_neither_the_next_nor_allocate() -> None:
    """Cases A03, A04."""

    async def story() -> None:
        async with live(h1(), KERN) as node:
            process = await node.start()
            await node.served("kern", 4)
            threads = _threads(process.process.pid)
            async with grpc.aio.insecure_channel(f"unix:{node.socket('kern')}") as channel:
                stub = DevicePluginStub(channel)
                for _ in range(50):
                    stream = stub.ListAndWatch(pb.Empty(), timeout=WITHIN)
                    message = await anext(aiter(stream))
                    assert [device.ID for device in message.devices] == IDS
                    stream.cancel()
                    assert len((await node.allocate("kern", IDS[0])).container_responses) == 1
            assert _threads(process.process.pid) <= threads + 4  # those that file work shares
            assert process.process.returncode is None

    asyncio.run(story())


def test_a_kubelet_with_another_root_directory_is_told_the_path_that_it_sees() -> None:
    """Case A06: the daemon sees the directory elsewhere."""

    async def story() -> None:
        async with live(h1(), KERN) as node:
            mounted = node.directory / "m"
            mounted.symlink_to(node.directory)
            await node.start(f"--kubelet-dir={mounted}", f"--kubelet-host-dir={node.directory}")
            await node.served("kern", 4)
            assert node.socket("kern") == node.kubelet.registry / "intel.com_kern.sock"
            assert await node.holds("pod", "kern")

    asyncio.run(story())


def test_a_pool_that_cannot_be_served_delays_no_other_and_first_lists_are_whole() -> None:
    """Case A07 (1)."""

    async def story() -> None:
        async with live(demo(), KERN, DPDK) as node:
            owner = socket.socket(socket.AF_UNIX)
            owner.bind(str(node.kubelet.registry / "intel.com_kern.sock"))
            owner.listen()
            await node.start()
            await node.served("dpdk", 8)
            assert node.lists("kern") == []
            owner.close()  # the file stays, and nobody answers
            await node.served("kern", 8)
            assert [len(node.lists(pool)[0].devices) for pool in ("kern", "dpdk")] == [8, 8]

    asyncio.run(story())


@WAYS
def test_a_stop_announces_nothing(way: str) -> None:
    """Case A07 (2), facts/kubelet.md 5.2: an empty list would be a lie about running pods."""

    async def story() -> None:
        async with live(h1(), KERN, way=way) as node:
            await node.start()
            await node.served("kern", 4)
            async with Quiet(node, "kern", settle=0.1):
                await node.stop()
                await node.counts("kern", 4, 0)
            assert node.sockets() == []

    asyncio.run(story())


def test_a_second_daemon_waits_until_the_first_is_dead() -> None:
    """Case A08."""

    async def story() -> None:
        async with live(h1(), KERN) as node:
            first = await node.start()
            await node.served("kern", 4)
            inode = node.socket("kern").stat().st_ino
            async with Quiet(node, "kern"):
                second = await node.start()
                await second.until_told("not served yet")
                assert f"process {first.process.pid}" in second.told("not served yet")[0]["reason"]
            assert node.socket("kern").stat().st_ino == inode
            assert node.streams("kern") == 1
            await first.stop(signal.SIGKILL)
            await node.until(lambda: node.streams("kern") == 2)
            await node.served("kern", 4)
            assert len(second.told("not served yet")) == 1

    asyncio.run(story())


def _threads(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208 - names only

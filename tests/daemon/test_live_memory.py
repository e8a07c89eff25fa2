"""What a daemon keeps of what is over: nothing."""

import asyncio
import os
from pathlib import Path

import grpc

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub
from tests.daemon.live import IDS, KERN, Live, live
from tests.hosts.named import h1

AT_ONCE = 4
"""A third of what a connection may have: one that was cancelled counts until its handler has ended."""
KIB_PER_MB = 1000


def test_two_thousand_abandoned_streams_leave_no_memory_no_threads_and_no_files() -> None:
    """Case I02."""

    async def story() -> None:
        async with live(h1(), KERN) as node:
            process = await node.start("--log-level=0")
            await node.served("kern", 4)
            pid = process.process.pid
            await abandon(node, 400)  # what is made once is made
            memory, threads, files = resident(pid), count(pid, "task"), count(pid, "fd")
            await abandon(node, 2000)
            await node.until(lambda: count(pid, "fd") <= files)
            assert resident(pid) - memory < 3 * KIB_PER_MB
            assert count(pid, "task") <= threads
            assert len((await node.allocate("kern", IDS[0])).container_responses) == 1
            node.laid.remove_function(IDS[3])
            await node.counts("kern", 3, 3)

    asyncio.run(story())


async def abandon(node: Live, streams: int) -> None:
    """Open so many streams and go away after the first list of each."""
    async with grpc.aio.insecure_channel(f"unix:{node.socket('kern')}") as channel:
        stub = DevicePluginStub(channel)

        async def one() -> None:
            stream = stub.ListAndWatch(pb.Empty())
            assert len((await anext(aiter(stream))).devices) == len(IDS)
            stream.cancel()

        for _ in range(streams // AT_ONCE):
            await asyncio.gather(*(one() for _ in range(AT_ONCE)))


def resident(pid: int) -> int:
    """Memory in kB (proc(5))."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def count(pid: int, what: str) -> int:
    return len(os.listdir(f"/proc/{pid}/{what}"))  # noqa: PTH208 - names only

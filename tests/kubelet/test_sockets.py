"""Sockets and their directories vanish; two daemons serve one node."""

import asyncio
import shutil
from pathlib import Path

import pytest

from tests.daemon.process import DaemonProcess
from tests.fakes.kubelet_harness import KubeletHarness
from tests.kubelet.scene import DPDK, WHOLE, Node, play, until_allocatable


def test_a_removed_socket_is_served_anew(binary: Path, way: str) -> None:
    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        (socket,) = (s for s in here.sockets(way) if "dpdk" in s.name)
        socket.unlink()
        await process.until_told("served anew")
        await until_quiet(kubelet)
        assert len(here.sockets(way)) == 2
        assert (await kubelet.admit("pod", {DPDK: 8})).admitted

    play(binary, way, story)


def test_a_directory_of_sockets_that_is_made_again_is_used_again(binary: Path, way: str) -> None:
    """The kubelet makes it at its start, so the pools are back when it is."""

    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        directory = here.sockets_directory(way)
        for entry in directory.iterdir():
            if entry.name != "kubelet_internal_checkpoint":
                entry.unlink()
        shutil.rmtree(directory)
        await process.until_told("served anew", 2)
        readmitted = await kubelet.restart()
        assert readmitted == {}
        await until_allocatable(kubelet, WHOLE)
        assert len(here.sockets(way)) == 2
        assert (await kubelet.admit("pod", {DPDK: 8})).admitted

    play(binary, way, story)


@pytest.mark.parametrize("first_ends", [True, False], ids=["rolled", "rolled back"])
def test_of_two_daemons_one_serves(binary: Path, way: str, first_ends: bool) -> None:
    """A rolling update with surge: the new pod starts before the old one ends, or gives up again."""

    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        assert (await kubelet.admit("pod", {DPDK: 1})).admitted
        async with here.daemon(way) as second:
            await second.until_told("not served yet", 2)
            assert await away(kubelet, 2.0) == 0
            await (process if first_ends else second).stop()
            gap = await away(kubelet, 5.0)
            print(f"allocatable 0 for {gap:.2f} s")
            assert gap < 4
            await until_quiet(kubelet)
            assert (await kubelet.start("pod", "c0")).error == ""
            assert (await kubelet.admit("more", {DPDK: 7})).admitted

    play(binary, way, story)


async def away(kubelet: KubeletHarness, seconds: float) -> float:
    """For how long, of so many seconds, a pool had fewer devices than all."""
    loop = asyncio.get_running_loop()
    last = loop.time()
    end, missing = last + seconds, 0.0
    while last < end:
        whole = (await kubelet.capacity()).device_manager.allocatable == WHOLE
        now = loop.time()
        missing += 0 if whole else now - last
        last = now
        await asyncio.sleep(0.02)
    return missing


async def until_quiet(kubelet: KubeletHarness, seconds: float = 2.0) -> None:
    """Wait until all pools were whole for so long, longer than any loss takes to show."""
    loop = asyncio.get_running_loop()
    end, since = loop.time() + 30, loop.time()
    while loop.time() - since < seconds:
        if (await kubelet.capacity()).device_manager.allocatable != WHOLE:
            since = loop.time()
        assert since < end
        await asyncio.sleep(0.02)

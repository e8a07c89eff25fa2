"""The kubelet's connections break while both ends live."""

import time
from pathlib import Path
from typing import Final

from tests.daemon.process import DaemonProcess
from tests.fakes.kubelet_harness import KubeletHarness
from tests.kubelet.scene import DPDK, KERN, WHOLE, Node, play, until_allocatable

SECONDS: Final = 10.0


def test_a_stream_that_was_cut_is_back_within_ten_seconds(binary: Path, way: str) -> None:
    """No kubelet calls ListAndWatch again by itself, and 1.37 refuses a path that it thinks connected."""

    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        assert (await kubelet.admit("pod", {DPDK: 1})).admitted
        began = time.monotonic()
        assert await kubelet.cut(f"{here.sockets_directory(way)}/") == 2
        await until_allocatable(kubelet, {KERN: 0, DPDK: 0})
        await until_allocatable(kubelet, WHOLE)
        took = time.monotonic() - began
        print(f"back after {took:.1f} s")
        assert took < SECONDS
        assert len(here.sockets(way)) == 2
        assert (await kubelet.start("pod", "c0")).error == ""
        assert (await kubelet.admit("other", {DPDK: 7})).admitted

    play(binary, way, story)

"""Restarts of the kubelet, one after the other, with pods that hold devices."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from tests.daemon.process import DaemonProcess
from tests.fakes.kubelet_harness import KubeletHarness
from tests.kubelet import checkpoint
from tests.kubelet.scene import ALIGNED, DPDK, KERN, WHOLE, Node, held, play, until_allocatable

RESTARTS = int(os.environ.get("SRIOVDP_RESTARTS", "5"))


def test_restarts_of_the_kubelet_lose_nothing(binary: Path, way: str, policy: str) -> None:
    """Capacity is right each time, nothing is handed out again or registered twice, the checkpoint holds."""

    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        assert (await kubelet.admit("pod", {DPDK: 2, KERN: 1})).admitted
        before = {pool: held(await kubelet.devices(), pool) for pool in WHOLE}
        times = []
        for number in range(RESTARTS):
            readmitted = await kubelet.restart(settle_s=0.1 * (number % 4))
            assert readmitted["pod"].admitted, readmitted
            times.append(await until_allocatable(kubelet, WHOLE))
            assert (await kubelet.capacity()).device_manager.capacity == WHOLE
            assert {pool: held(await kubelet.devices(), pool) for pool in WHOLE} == before
            assert checkpoint.held(here.directory) == {("pod", pool): ids for pool, ids in before.items()}
            await kubelet.wait_for(lambda: _is_whole(checkpoint.registered(here.directory)))
            if way == "classic":
                counted = await kubelet.metrics("kubelet_device_plugin_registration_total")
                assert sorted(counted.values()) == [1, 1]
            assert len(here.sockets(way)) == 2
        assert sorted(times)[len(times) // 2] < 3, times
        print(f"back after {max(times):.2f} s at most")
        assert len(process.told("allocated")) == 2
        assert (await kubelet.start("pod", "c0")).error == ""
        assert (await kubelet.admit("more", {DPDK: 2})).admitted

    play(binary, way, story, *(ALIGNED if policy != "none" else ()))


def _is_whole(registered: Mapping[str, Collection[str]]) -> bool:
    """Lists in the checkpoint: whole, at least that which came last.

    The kubelet collects them under its lock and writes the file without it (dm/manager.go, writeCheckpoint): of two
    lists that come at once the file may have the earlier one alone, until the next.
    """
    numbers = {len(ids) for ids in registered.values()}
    return 8 in numbers and numbers <= {0, 8}

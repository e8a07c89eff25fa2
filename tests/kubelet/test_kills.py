"""The daemon is killed with -9 at random moments while pods are admitted."""

import asyncio
import os
import random
import signal
from collections.abc import Mapping
from pathlib import Path

from tests.daemon.process import DaemonProcess
from tests.fakes.kubelet.reports import Admission
from tests.fakes.kubelet_harness import KubeletHarness
from tests.kubelet.scene import ALIGNED, DPDK, KERN, WHOLE, Node, held, play

KILLS = int(os.environ.get("SRIOVDP_KILLS", "5"))
AT_ONCE = 4


def test_killed_at_any_moment_no_device_is_lost_or_given_twice(binary: Path, way: str, policy: str) -> None:
    """Every other time the moment is in the daemon's start, else among admissions."""

    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        chance = random.Random(7)  # noqa: S311 - the same moments every time
        assert (await kubelet.admit("stays", {KERN: 1, DPDK: 1})).admitted
        await process.stop(signal.SIGKILL)
        refused = 0
        for number in range(KILLS):
            serving = number % 2 == 0
            async with here.daemon(way) as victim:
                if serving:
                    await until_whole(kubelet)
                load = asyncio.create_task(admissions(kubelet, number))
                await asyncio.sleep(chance.uniform(0, 0.03 if serving else 0.8))
                await victim.stop(signal.SIGKILL)
                verdicts = await load
            admitted = {uid for uid, verdict in verdicts.items() if verdict.admitted}
            refused += AT_ONCE - len(admitted)
            await check(kubelet, admitted)
            for uid in verdicts:
                await kubelet.terminate(uid)
        async with here.daemon(way):
            await until_whole(kubelet)
            assert (await kubelet.start("stays", "c0")).error == ""
            assert (await kubelet.admit("last", {DPDK: 3})).admitted
        print(f"{KILLS} kills, {refused} of {KILLS * AT_ONCE} pods refused")

    play(binary, way, story, *(ALIGNED if policy != "none" else ()))


async def admissions(kubelet: KubeletHarness, number: int) -> Mapping[str, Admission]:
    """Pods that ask for a device of each pool."""
    uids = [f"pod-{number}-{index}" for index in range(AT_ONCE)]
    found = await asyncio.gather(*(kubelet.admit(uid, {DPDK: 1, KERN: 1}) for uid in uids))
    return dict(zip(uids, found, strict=True))


async def until_whole(kubelet: KubeletHarness) -> None:
    """All devices are healthy again; meanwhile none was dropped, which would be a panic later."""
    while True:
        report = (await kubelet.capacity()).device_manager
        assert report.capacity == WHOLE
        if report.allocatable == WHOLE:
            return
        await asyncio.sleep(0.02)


async def check(kubelet: KubeletHarness, admitted: set[str]) -> None:
    """Each admitted pod has all its devices, and no device is in two pods."""
    devices = {uid: pod for uid, pod in (await kubelet.devices()).items() if uid in {*admitted, "stays"}}
    for pool in WHOLE:
        ids = held(devices, pool)
        assert len(ids) == len(set(ids)) == len(admitted) + 1, devices

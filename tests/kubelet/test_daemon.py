"""The daemon on the real kubelet's device manager: every version that is built, both ways of registration."""

import asyncio
import json
import os
import random
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.daemon.process import DaemonProcess
from tests.fakes.kubelet_harness import KubeletHarness
from tests.kubelet.binaries import binaries
from tests.kubelet.scene import DPDK, KERN, POOLS, Node, held, node, until_allocatable

BINARIES = binaries()
WHOLE = {KERN: 8, DPDK: 8}

pytestmark = pytest.mark.skipif(not BINARIES, reason="no kubelet is built: make kubelet-build (needs Go)")


@pytest.fixture(params=BINARIES)
def binary(request: pytest.FixtureRequest) -> Path:
    return BINARIES[request.param]


@pytest.fixture(params=["watcher", "classic"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["none", "single-numa-node"])
def policy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


Story = Callable[[Node, KubeletHarness, DaemonProcess], Awaitable[None]]


def play(binary: Path, way: str, story: Story, *arguments: str) -> None:
    """Run a story on a node whose pools are all there."""

    async def run() -> None:
        with node() as here:
            async with KubeletHarness(binary, here.directory, *arguments) as kubelet, here.daemon(way) as process:
                await until_allocatable(kubelet, WHOLE)
                await story(here, kubelet, process)

    asyncio.run(run())


def test_pods_get_what_they_ask_for_and_no_more(binary: Path, way: str, policy: str) -> None:
    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        first = await kubelet.admit("first", {DPDK: 2, KERN: 1})
        assert first.admitted, first.message
        started = first.containers["c0"]
        ids = started.env["PCIDEVICE_INTEL_COM_DPDK"].split(",")
        info = json.loads(started.env["PCIDEVICE_INTEL_COM_DPDK_INFO"])
        assert {d["host"] for d in started.devices} == {"/dev/vfio/vfio", *(info[i]["vfio"]["dev-mount"] for i in ids)}
        for number in range(3):
            assert (await kubelet.admit(f"more-{number}", {DPDK: 2})).admitted
        refused = await kubelet.admit("last", {DPDK: 1})
        assert not refused.admitted
        await kubelet.terminate("first")
        assert (await kubelet.admit("after", {DPDK: 2})).admitted
        # The harness's own List still shows ended pods in 1.32.
        active = {uid: pod for uid, pod in (await kubelet.devices()).items() if uid != "first"}
        assert len(held(active, DPDK)) == len(set(held(active, DPDK))) == 8

    play(binary, way, story, "--policy", policy, "--numa", "2")


def test_aligned_devices_come_from_one_node(binary: Path, way: str) -> None:
    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        admitted = await kubelet.admit("pod", {DPDK: 3})
        assert admitted.admitted, admitted.message
        (devices,) = (c["devices"][DPDK] for c in (await kubelet.devices("pod"))["pod"].values())
        assert len({tuple(nodes) for nodes in devices.values()}) == 1

    play(binary, way, story, "--policy", "single-numa-node", "--numa", "2")


def test_kubelet_restarts_lose_nothing(binary: Path, way: str) -> None:
    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        assert (await kubelet.admit("pod", {DPDK: 2, KERN: 1})).admitted
        before = held(await kubelet.devices(), DPDK)
        times = []
        for _ in range(int(os.environ.get("SRIOVDP_RESTARTS", "5"))):
            readmitted = await kubelet.restart(settle_s=0.2)
            assert readmitted["pod"].admitted, readmitted
            times.append(await until_allocatable(kubelet, WHOLE, 3))
            assert held(await kubelet.devices(), DPDK) == before
        print(f"back after {max(times):.2f} s at most")
        assert len(process.told("allocated")) == 2
        assert (await kubelet.start("pod", "c0")).error == ""

    play(binary, way, story)


def test_a_node_reboot_with_the_plugin_first_keeps_the_devices(binary: Path, way: str) -> None:
    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        assert (await kubelet.admit("pod", {DPDK: 2})).admitted
        for file in (here.directory / "devinfo").iterdir():
            file.unlink()
        await process.stop(signal.SIGKILL)
        async with here.daemon(way) as again:
            if way == "watcher":
                await again.until_told("serving", 2)
            readmitted = await kubelet.restart(containers_gone=True, settle_s=2.5)
            assert readmitted["pod"].admitted, readmitted
            assert again.told("allocated") == []
            assert len(list((here.directory / "devinfo").iterdir())) == 16

    play(binary, way, story)


def test_a_killed_daemon_comes_back_with_a_whole_list(binary: Path, way: str) -> None:
    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        chance = random.Random(7)  # noqa: S311 - the same moments every time
        assert (await kubelet.admit("pod-0", {KERN: 1})).admitted
        await process.stop(signal.SIGKILL)
        for number in range(1, 6):
            async with here.daemon(way) as again:
                await until_allocatable(kubelet, WHOLE)
                admissions = [kubelet.admit(f"pod-{number}-{i}", {DPDK: 1}) for i in range(2)]
                work = asyncio.gather(*admissions, return_exceptions=True)
                await asyncio.sleep(chance.uniform(0, 0.02))
                await again.stop(signal.SIGKILL)
                for verdict in await work:
                    assert not isinstance(verdict, BaseException), verdict
                    if verdict.admitted and verdict.containers:
                        assert "PCIDEVICE_INTEL_COM_DPDK" in verdict.containers["c0"].env
                for i in range(2):
                    await kubelet.terminate(f"pod-{number}-{i}")
        in_use = held({uid: d for uid, d in (await kubelet.devices()).items() if uid == "pod-0"}, KERN)
        assert len(in_use) == 1

    play(binary, way, story)


def test_a_removed_socket_is_served_anew(binary: Path, way: str) -> None:
    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        directory = here.directory / ("plugins_registry" if way == "watcher" else "device-plugins")
        (socket,) = (s for s in directory.glob("*.sock") if "dpdk" in s.name)
        socket.unlink()
        await process.until_told("served anew")
        await asyncio.sleep(0.3)
        await until_allocatable(kubelet, WHOLE)
        assert (await kubelet.admit("pod", {DPDK: 8})).admitted

    play(binary, way, story)


def test_two_instances_do_not_fight(binary: Path) -> None:
    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        (here.directory / "second").mkdir()
        async with here.daemon("watcher") as second:
            await second.until_told("not served yet", 2)
            await asyncio.sleep(1)
            assert (await kubelet.capacity()).device_manager.allocatable[DPDK] == 8
            assert process.process.returncode is None
            await process.stop()
            await second.until_told("serving", 2)
            await until_allocatable(kubelet, WHOLE)

    play(binary, "watcher", story)


def test_vfs_come_and_go_and_held_ones_stay(binary: Path, way: str) -> None:
    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        assert (await kubelet.admit("pod", {DPDK: 1})).admitted
        (mine,) = held(await kubelet.devices(), DPDK)
        free = next(f"0000:3b:01.{i}" for i in range(4, 8) if f"0000:3b:01.{i}" != mine)
        here.laid.rebind(free, "iavf")
        await until_allocatable(kubelet, {KERN: 9, DPDK: 7})
        here.laid.rebind(mine, "iavf")
        await until_allocatable(kubelet, {KERN: 9, DPDK: 6})
        assert (await kubelet.capacity()).device_manager.capacity[DPDK] == 7
        assert mine in held(await kubelet.devices(), DPDK)
        await kubelet.terminate("pod")
        here.laid.rebind(free, "vfio-pci")
        await until_allocatable(kubelet, {KERN: 9, DPDK: 7})

    play(binary, way, story)


def test_a_pool_that_leaves_the_configuration_drains(binary: Path, way: str) -> None:
    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        assert (await kubelet.admit("pod", {DPDK: 1})).admitted
        here.configure(POOLS[0])
        await until_allocatable(kubelet, {KERN: 8, DPDK: 0})
        assert (await kubelet.capacity()).device_manager.capacity[DPDK] == 1
        assert (await kubelet.start("pod", "c0")).error == ""
        here.configure(*POOLS)
        await until_allocatable(kubelet, WHOLE)

    play(binary, way, story)

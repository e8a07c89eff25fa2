"""CDI files around the life of the daemon's process, with names on the kubelet's real wire."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.contract.cdi_specification import resolvable
from tests.daemon.process import DaemonProcess, daemon
from tests.fakes.kubelet import EAGER, FakeKubelet
from tests.fakes.kubelet.release import RELEASES
from tests.hosts.named import h2

POOLS = {name: {"resourceName": name, "selectors": {"pfNames": [f"ens1f0#{i}"]}} for i, name in enumerate("abc")}


class Node:
    """H2 with three pools of a VF each; flags for a daemon that writes CDI files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.cdi = directory / "cdi"
        self.laid = h2().lay(directory / "h")
        config = directory / "config.json"
        config.write_text(json.dumps({"resourceList": list(POOLS.values())}), encoding="utf-8")
        self.flags = (
            f"--config-file={config}",
            f"--root={directory / 'h'}",
            f"--kubelet-dir={directory}",
            f"--devinfo-dir={directory / 'devinfo'}",
            f"--cdi-dir={self.cdi}",
            "--use-cdi",
        )

    def run(self, story: Callable[[FakeKubelet, DaemonProcess], Awaitable[None]], version: str = "1.37") -> None:
        async def tell() -> None:
            async with (
                FakeKubelet(self.directory, timing=EAGER, version=version) as kubelet,
                daemon(self.directory, *self.flags) as process,
            ):
                await story(kubelet, process)

        asyncio.run(tell())


@pytest.fixture
def node(short_path: Path) -> Node:
    return Node(short_path)


async def served(kubelet: FakeKubelet) -> None:
    for name in POOLS:
        await kubelet.wait_allocatable(f"intel.com/{name}", 1, 60)


@pytest.mark.parametrize("version", [min(RELEASES), max(RELEASES)])
def test_one_container_with_devices_of_three_pools_gets_all_of_their_nodes(version: str, node: Node) -> None:
    """Case F01: after the kubelet has merged the answers; by cdi_devices, and by no annotation and no node besides."""

    async def story(kubelet: FakeKubelet, process: DaemonProcess) -> None:
        await served(kubelet)
        admitted = await kubelet.admit("pod", {f"intel.com/{name}": 1 for name in POOLS})
        assert admitted.admitted, admitted.message
        started: Any = admitted.containers["c0"]
        found = resolvable(node.cdi)
        injected = {edit["hostPath"] for name in started.cdi for edit in found[name]}
        assert injected == {"/dev/vfio/vfio", "/dev/vfio/101", "/dev/vfio/102", "/dev/vfio/103"}
        assert (started.devices, started.annotations) == ((), {})
        await process.stop()

    node.run(story, version)


def test_files_are_there_before_the_kubelet_hears_of_a_pool_and_stay_when_the_daemon_stops(node: Node) -> None:
    """A container that is restarted while the plugin is being upgraded resolves its devices."""

    async def story(kubelet: FakeKubelet, process: DaemonProcess) -> None:
        await process.until_told("kubelet listens")
        before = resolvable(node.cdi)
        await served(kubelet)
        assert len(before) == 3
        assert (await process.stop())[0] == 0
        assert resolvable(node.cdi) == before

    node.run(story)


def test_a_restarted_daemon_leaves_files_that_are_right_untouched(node: Node) -> None:
    """Case F04: the same names and the same files."""
    inodes: list[dict[str, int]] = []

    async def story(kubelet: FakeKubelet, process: DaemonProcess) -> None:
        await served(kubelet)
        inodes.append({file.name: file.stat().st_ino for file in node.cdi.iterdir()})
        await process.stop()

    node.run(story)
    node.run(story)

    assert inodes[0] == inodes[1]


def test_a_directory_that_cannot_be_written_is_told_and_nothing_is_announced(node: Node) -> None:
    node.cdi.write_text("in the way", encoding="utf-8")

    async def story(kubelet: FakeKubelet, process: DaemonProcess) -> None:
        await process.until_told("not reconciled")
        assert str(node.cdi) in process.told("not reconciled")[0]["reason"]
        assert kubelet.calls == []

    node.run(story)


def test_an_allocation_whose_file_cannot_be_written_is_refused_with_the_path(node: Node) -> None:
    """Case F02."""

    async def story(kubelet: FakeKubelet, process: DaemonProcess) -> None:
        await served(kubelet)
        node.cdi.rename(node.directory / "aside")
        node.cdi.write_text("in the way", encoding="utf-8")
        admitted = await kubelet.admit("pod", {"intel.com/a": 1})
        assert not admitted.admitted
        assert str(node.cdi) in admitted.message
        await process.stop()

    node.run(story)

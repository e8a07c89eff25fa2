"""A simulated node, the real daemon on it, and a real kubelet's device manager."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.daemon.process import DaemonProcess, daemon
from tests.fakes.kubelet_harness import KubeletHarness
from tests.hosts.ground import temporary_directory
from tests.hosts.host import SimHost
from tests.hosts.laid import LaidHost
from tests.hosts.named import demo

KERN: Final = "intel.com/kern"
DPDK: Final = "intel.com/dpdk"
POOLS: Final = (
    {"resourceName": "kern", "selectors": {"drivers": ["iavf"]}},
    {"resourceName": "dpdk", "selectors": {"drivers": ["vfio-pci"]}},
)
WHOLE: Final = {KERN: 8, DPDK: 8}
ALIGNED: Final = ("--policy", "single-numa-node", "--numa", "2")
WITHIN: Final = 30.0
"""Seconds in which anything happens, on a machine that does other things too."""


@dataclass(slots=True)
class Node:
    """Directories of a node; `demo`'s has 2 PFs and 16 VFs, 8 in each pool."""

    directory: Path
    laid: LaidHost
    logs: list[DaemonProcess] = field(default_factory=list)

    @property
    def devinfo(self) -> Path:
        return self.directory / "run" / "devinfo"

    @property
    def cdi(self) -> Path:
        return self.directory / "run" / "cdi"

    def sockets_directory(self, way: str) -> Path:
        return self.directory / ("plugins_registry" if way == "watcher" else "device-plugins")

    def sockets(self, way: str) -> list[Path]:
        """The pools' sockets."""
        found = self.sockets_directory(way).iterdir()
        return sorted(p for p in found if p.is_socket() and p.name != "kubelet.sock" and p.name[0] != ".")

    def configure(self, *pools: Mapping[str, Any]) -> None:
        """Write the configuration as the kubelet updates a mounted ConfigMap: by renaming."""
        text = json.dumps({"resourceList": pools})
        new = self.directory / "new"
        new.write_text(text, encoding="utf-8")
        new.rename(self.directory / "config.json")

    @asynccontextmanager
    async def daemon(
        self, way: str, *more: str, environment: Mapping[str, str] | None = None
    ) -> AsyncIterator[DaemonProcess]:
        """The daemon on this node."""
        flags = (
            f"--config-file={self.directory / 'config.json'}",
            f"--root={self.laid.root}",
            f"--kubelet-dir={self.directory}",
            f"--devinfo-dir={self.devinfo}",
            f"--cdi-dir={self.cdi}",
            f"--registration={way}",
            *more,
        )
        place = self.directory / f"run{len(self.logs)}"
        place.mkdir()
        async with daemon(place, *flags, environment=environment) as process:
            self.logs.append(process)
            yield process


@contextmanager
def node(host: SimHost | None = None, pools: tuple[Mapping[str, Any], ...] = POOLS) -> Iterator[Node]:
    """A node of its own, cleaned up at the end. A failure comes with the logs of the daemons."""
    with temporary_directory() as directory:
        made = Node(directory, (host or demo()).lay(directory / "host"))
        made.configure(*pools)
        try:
            yield made
        except BaseException as failure:
            for process in made.logs:
                failure.add_note(f"log of the daemon:\n{process.text[-3000:]}")
            raise
        for process in made.logs:
            assert "Traceback" not in process.text, process.text
            assert process.told("task ended") == []


Story = Callable[[Node, KubeletHarness, DaemonProcess], Awaitable[None]]


def play(binary: Path, way: str, story: Story, *arguments: str) -> None:
    """Run a story on a node whose pools are all there; the arguments are the kubelet's."""

    async def run() -> None:
        with node() as here:
            async with KubeletHarness(binary, here.directory, *arguments) as kubelet, here.daemon(way) as process:
                await until_allocatable(kubelet, WHOLE)
                await story(here, kubelet, process)
                assert "already connected" not in kubelet.log

    asyncio.run(run())


async def until_allocatable(kubelet: KubeletHarness, counts: Mapping[str, int], within: float = WITHIN) -> float:
    """Seconds until the kubelet's device manager says so."""
    began = time.monotonic()
    seen: dict[str, int] = {}
    while time.monotonic() < began + within:
        report = (await kubelet.capacity()).device_manager
        seen = {resource: report.allocatable.get(resource, 0) for resource in counts}
        if seen == counts:
            return time.monotonic() - began
        await asyncio.sleep(0.02)
    raise AssertionError(f"allocatable {seen} after {within} s, wanted {counts}")


def held(devices: Mapping[str, Any], resource: str) -> list[str]:
    """The ids of a resource in the hands of all pods."""
    return sorted(
        id_ for pod in devices.values() for container in pod.values() for id_ in container["devices"].get(resource, {})
    )

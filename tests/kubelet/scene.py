"""A simulated node, the real daemon on it, and a real kubelet's device manager."""

import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.daemon.process import DaemonProcess, daemon
from tests.fakes.kubelet_harness import KubeletHarness
from tests.hosts.laid import LaidHost
from tests.hosts.named import demo

KERN: Final = "intel.com/kern"
DPDK: Final = "intel.com/dpdk"
POOLS: Final = (
    {"resourceName": "kern", "selectors": {"drivers": ["iavf"]}},
    {"resourceName": "dpdk", "selectors": {"drivers": ["vfio-pci"]}},
)


@dataclass(frozen=True, slots=True)
class Node:
    """Directories of a node with 2 PFs and 16 VFs, 8 in each pool."""

    directory: Path
    laid: LaidHost

    def configure(self, *pools: Mapping[str, Any]) -> None:
        """Write the configuration as the kubelet updates a mounted ConfigMap: by renaming."""
        text = json.dumps({"resourceList": pools})
        new = self.directory / "new"
        new.write_text(text, encoding="utf-8")
        new.rename(self.directory / "config.json")

    @asynccontextmanager
    async def daemon(self, way: str) -> AsyncIterator[DaemonProcess]:
        """The daemon on this node."""
        flags = (
            f"--config-file={self.directory / 'config.json'}",
            f"--root={self.laid.root}",
            f"--kubelet-dir={self.directory}",
            f"--devinfo-dir={self.directory / 'devinfo'}",
            f"--registration={way}",
        )
        async with daemon(self.directory, *flags) as process:
            yield process


@contextmanager
def node() -> Iterator[Node]:
    """A node of its own, cleaned up at the end."""
    directory = Path(tempfile.mkdtemp(prefix="r", dir="/tmp"))
    try:
        made = Node(directory, demo().lay(directory / "host"))
        made.configure(*POOLS)
        yield made
    finally:
        shutil.rmtree(directory, ignore_errors=True)


async def until_allocatable(kubelet: KubeletHarness, counts: Mapping[str, int], within: float = 20.0) -> float:
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

"""A publisher of pools on a directory, with Allocate in the test's hands."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc

from adapters.kubelet.publisher import KubeletPaths, KubeletPublisher, Registration
from domain.announcement import Announced
from domain.exposure import DeviceNode, Grant
from domain.resource_name import ResourceName
from tests.fakes.journal import FakeJournal

P = ResourceName("intel.com", "p")
Q = ResourceName("intel.com", "q")
ENTRIES = (Announced("0000:3b:01.0", 0), Announced("0000:3b:01.1"), Announced("0000:3b:01.2", fault="gone"))
WAYS = ["watcher", "classic"]


class Plugin:
    """A publisher on a kubelet's directory, with Allocate in the test's hands."""

    def __init__(self, directory: Path, host: Path | None = None, way: Registration = Registration.AUTO) -> None:
        self.journal = FakeJournal()
        self.error: Exception | None = None
        self.publisher = KubeletPublisher(KubeletPaths(directory, host or directory), way, self._allocate, self.journal)

    async def _allocate(self, resource: ResourceName, containers: object) -> list[Grant]:
        if self.error:
            raise self.error
        return [Grant({"A": "b"}, (DeviceNode("/dev/x", "/dev/y"),)) for _ in containers]  # type: ignore[attr-defined]


@asynccontextmanager
async def plugin(
    directory: Path, host: Path | None = None, way: Registration = Registration.AUTO
) -> AsyncIterator[Plugin]:
    under_test = Plugin(directory, host, way)
    try:
        yield under_test
    finally:
        await under_test.publisher.stop()


@asynccontextmanager
async def served(directory: Path, host: Path | None = None) -> AsyncIterator[tuple[Plugin, grpc.aio.Channel]]:
    """Pool P where no kubelet is, and a channel to its socket."""
    path = registry(directory) / "intel.com_p.sock"
    async with plugin(directory, host) as under_test:
        await under_test.publisher.publish(P, ENTRIES)
        await until(path.exists)
        async with grpc.aio.insecure_channel(f"unix:{path}") as channel:
            yield under_test, channel


def registry(directory: Path) -> Path:
    """The directory that the kubelet's plugin watcher looks at, made."""
    found = directory / "plugins_registry"
    found.mkdir()
    return found


async def until(condition: object, within: float = 60.0) -> None:
    async with asyncio.timeout(within):
        while not condition():  # type: ignore[operator]
            await asyncio.sleep(0.02)  # files tell nobody when they change

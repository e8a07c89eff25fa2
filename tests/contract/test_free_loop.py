"""The event loop stays free: it reads no file of the host and writes none, and no callback takes long.

Audited in the real composition on 1,024 VFs: a start, a change of the host, Allocate, a restart of the kubelet.
Only the feed is left out that follows simulated trees, which is no part of a daemon on a node.
"""

import asyncio
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import grpc
from dependency_injector import providers
from pytest_mock import MockerFixture

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub
from application.ports.change_feed import Change
from entrypoints.container import build
from entrypoints.settings import Settings
from tests.fakes.journal import FakeJournal
from tests.fakes.kubelet import FakeKubelet
from tests.hosts.scale import scale

RESOURCE: Final = "intel.com/dpdk"
CONFIG: Final[dict[str, Any]] = {"resourceList": [{"resourceName": "dpdk", "selectors": {"drivers": ["vfio-pci"]}}]}
#: Seconds of CPU: what else the machine does is not counted.
LONGEST: Final = 0.05
#: Events of sys.addaudithook that come from calls which may block, with a path as their first argument.
BLOCKING: Final = {"open", "os.listdir", "os.scandir", "os.rename", "os.remove", "os.mkdir", "os.link"}


class Watch:
    """What the loop's thread did that it must not; a hook cannot be taken away again, so it is told when to look."""

    def __init__(self) -> None:
        self.paths: tuple[str, ...] = ()
        self.seen: list[str] = []
        self._thread = threading.get_ident()
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.paths and event in BLOCKING and threading.get_ident() == self._thread:
            path = str(arguments[0])
            if path.startswith(self.paths):
                self.seen.append(f"{event} {path}")


@contextmanager
def timed(mocker: MockerFixture) -> Iterator[list[tuple[float, str]]]:
    """The callbacks that the loop runs, with their seconds of CPU."""
    taken: list[tuple[float, str]] = []
    run = asyncio.events.Handle._run

    def timing(handle: asyncio.Handle) -> None:
        began = time.thread_time()
        run(handle)
        taken.append((time.thread_time() - began, repr(handle)))

    mocker.patch.object(asyncio.events.Handle, "_run", timing)
    yield taken
    mocker.stopall()


def test_the_loop_reads_no_file_of_the_host_and_runs_nothing_for_long(short_path: Path, mocker: MockerFixture) -> None:
    """A loop that waits for a disk, or counts, answers nobody."""
    host = scale(8, 128).lay(short_path / "h")
    config = short_path / "config.json"
    config.write_text(json.dumps(CONFIG), encoding="utf-8")
    settings = Settings(
        config_file=config,
        root=short_path / "h",
        kubelet_dir=short_path,
        devinfo_dir=short_path / "devinfo",
        cdi_dir=short_path / "cdi",
        use_cdi=True,
        registration="classic",
    )
    watch = Watch()

    async def story() -> None:
        container = build(settings, FakeJournal())
        container.feeds.override(providers.Object(()))
        async with FakeKubelet(short_path, watcher=False) as kubelet:
            following, publisher = container.following(), container.publisher()
            started = container.configuration().load()
            with timed(mocker) as taken:
                watch.paths = tuple(str(short_path / name) for name in ("h", "devinfo", "cdi"))
                work = asyncio.create_task(following.run(started))
                await kubelet.wait_allocatable(RESOURCE, 1024, 60)
                for bdf in sorted(kubelet.messages(RESOURCE)[-1].health)[-16:]:
                    await asyncio.to_thread(host.rebind, bdf, None)
                following.wake(Change.HOST)
                await kubelet.wait_allocatable(RESOURCE, 1008, 60)
                await allocate(kubelet, sorted(kubelet.messages(RESOURCE)[-1].health)[::16])
                await kubelet.restart()
                await kubelet.wait_allocatable(RESOURCE, 1008, 60)
                watch.paths = ()
            work.cancel()
            await asyncio.wait({work})
            await publisher.stop()
        assert watch.seen == []
        assert [f"{seconds:.3f} s: {what}" for seconds, what in taken if seconds > LONGEST] == []

    asyncio.run(story())


async def allocate(kubelet: FakeKubelet, ids: list[str]) -> None:
    socket = kubelet.calls_of("ListAndWatch", RESOURCE)[-1].socket
    request = pb.AllocateRequest(container_requests=[pb.ContainerAllocateRequest(devices_ids=ids)])
    async with grpc.aio.insecure_channel(f"unix:{socket}") as channel:
        await DevicePluginStub(channel).Allocate(request, timeout=60)

"""A node that changes under a running daemon: simulated host, configuration, kubelet, and the daemon's own process."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import grpc
import pytest

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub
from tests.daemon.process import DaemonProcess, daemon
from tests.fakes.kubelet import FakeKubelet, Received, Timing
from tests.hosts.ground import temporary_directory
from tests.hosts.host import SimHost
from tests.hosts.laid import LaidHost

KERN: Final = {"resourceName": "kern", "selectors": {"drivers": ["iavf"]}}
DPDK: Final = {"resourceName": "dpdk", "selectors": {"drivers": ["vfio-pci"]}}
ALL: Final = {"resourceName": "all", "selectors": {"vendors": ["8086"]}}
IDS: Final = [f"0000:3b:01.{index}" for index in range(4)]
"""The VFs of H1."""

WATCHER: Final = "watcher"
CLASSIC: Final = "classic"
WITHIN: Final = 60.0
"""Seconds in which anything happens, on a machine that does other things too."""

#: The kubelet looks at its plugins every 50 ms, not every second; and gives up a dial after one.
HASTY: Final = Timing(reconcile=0.05, backoff_first=0.1, dial=1.0)


@dataclass
class Live:
    """One node. Whatever happens on it, `check` must hold in the end."""

    directory: Path
    laid: LaidHost
    kubelet: FakeKubelet
    way: str
    process: DaemonProcess = field(init=False)
    logs: list[DaemonProcess] = field(default_factory=list)
    _running: AsyncExitStack = field(default_factory=AsyncExitStack)

    @property
    def config(self) -> Path:
        return self.directory / "c" / "node-1"

    @property
    def devinfo(self) -> Path:
        return self.directory / "devinfo" / "dp"

    @property
    def sockets_directory(self) -> Path:
        return self.kubelet.registry if self.way == WATCHER else self.kubelet.socket_directory

    def configure(self, *pools: dict[str, Any], **keys: Any) -> None:
        """Write the configuration over the one there was, in one go."""
        text = json.dumps({"resourceList": pools, **keys})
        aside = self.config.with_suffix(".new")
        aside.write_text(text, encoding="utf-8")
        aside.replace(self.config)

    async def start(self, *flags: str) -> DaemonProcess:
        """Start the daemon, for the first time or again."""
        place = self.directory / f"run-{self.config.name}-{len(self.logs)}"
        place.mkdir()
        self.process = await self._running.enter_async_context(
            daemon(
                place,
                f"--config-file={self.config}",
                f"--root={self.laid.root}",
                f"--kubelet-dir={self.directory}",
                f"--devinfo-dir={self.devinfo}",
                f"--cdi-dir={self.directory / 'cdi'}",
                *flags,
            )
        )
        self.logs.append(self.process)
        return self.process

    async def kill(self) -> None:
        """The daemon dies without a word: its sockets stay, its streams are cut."""
        await self.process.stop(signal.SIGKILL)

    async def stop(self) -> None:
        code, _ = await self.process.stop()
        assert code == 0, self.process.text

    async def restart(self, *flags: str) -> DaemonProcess:
        """Kill the daemon with -9 and start another."""
        await self.kill()
        return await self.start(*flags)

    async def close(self) -> None:
        await self._running.aclose()

    # -- what the kubelet has ---------------------------------------------------------------------
    async def counts(self, pool: str, capacity: int, allocatable: int, within: float = WITHIN) -> None:
        """Wait until the kubelet counts so many devices of a pool, and so many healthy ones."""
        await self.until(lambda: self.kubelet.counts(name(pool)) == (capacity, allocatable), within)

    async def until(self, condition: Callable[[], bool], within: float = WITHIN) -> None:
        await self.kubelet.wait_for(condition, within)

    async def served(self, pool: str, devices: int) -> None:
        """Wait until a pool is registered with so many healthy devices."""
        await self.kubelet.wait_registered(name(pool), WITHIN)
        await self.counts(pool, devices, devices)

    def lists(self, pool: str) -> list[Received]:
        return self.kubelet.messages(name(pool))

    def health(self, pool: str) -> dict[str, str]:
        """The last list of a pool."""
        return self.lists(pool)[-1].health

    def streams(self, pool: str) -> int:
        """How often the kubelet has opened the pool's stream so far."""
        return len(self.kubelet.calls_of("ListAndWatch", name(pool)))

    def socket(self, pool: str) -> Path:
        """Where the kubelet has last listened to a pool."""
        return self.kubelet.calls_of("ListAndWatch", name(pool))[-1].socket

    def sockets(self) -> list[str]:
        return sorted(p.name for p in self.sockets_directory.iterdir() if p.is_socket() and p.name != "kubelet.sock")

    def files(self) -> dict[str, int]:
        """Device information by name, with what tells one file from its successor."""
        found: dict[str, int] = {}
        for path in self.devinfo.iterdir() if self.devinfo.is_dir() else ():
            with suppress(FileNotFoundError):  # the daemon has just removed it
                found[path.name] = path.stat().st_ino
        return found

    async def holds(self, pod: str, pool: str, devices: int = 1) -> list[str]:
        """Admit a pod that asks for devices of a pool; their ids."""
        admitted = await self.kubelet.admit(pod, {name(pool): devices})
        assert admitted.admitted, admitted.message
        return admitted.containers["c0"].env[f"PCIDEVICE_INTEL_COM_{pool.upper()}"].split(",")

    async def allocate(self, pool: str, *ids: str) -> pb.AllocateResponse:
        """Call Allocate as the kubelet would, whatever its own table says."""
        request = pb.AllocateRequest(container_requests=[pb.ContainerAllocateRequest(devices_ids=ids)])
        async with grpc.aio.insecure_channel(f"unix:{self.socket(pool)}") as channel:
            return await DevicePluginStub(channel).Allocate(request, timeout=WITHIN)

    async def refusal(self, pool: str, *ids: str) -> str:
        """The text with which Allocate refuses."""
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await self.allocate(pool, *ids)
        return caught.value.details() or ""

    # -- what holds on every node -----------------------------------------------------------------
    def check(self) -> None:
        """Lists are sorted and none is like the one before; no path was registered twice; nobody has panicked."""
        assert self.kubelet.panics == []
        assert [n for n in self.kubelet.notices if "already connected" in n] == []
        endpoints = [call.socket for call in self.kubelet.calls_of("Register")]
        assert len(set(endpoints)) == len(endpoints)
        for resource in {message.resource for message in self._messages()}:
            for stream in _by_stream(self.kubelet, resource):
                for message, after in pairwise(stream):
                    assert message.devices != after.devices, f"{resource}: one list twice"
        for message in self._messages():
            ids = [device.ID for device in message.devices]
            assert ids == sorted(set(ids)), f"{message.resource}: {ids}"
        for process in self.logs:
            assert "Traceback" not in process.text
            assert process.told("task ended") == []

    def _messages(self) -> Iterator[Received]:
        yield from self.kubelet._journal.messages


def name(pool: str) -> str:
    return f"intel.com/{pool}"


@asynccontextmanager
async def live(
    host: SimHost,
    *pools: dict[str, Any],
    way: str = WATCHER,
    version: str = "1.37",
    timing: Timing = HASTY,
    **keys: Any,
) -> AsyncIterator[Live]:
    """A node with a kubelet, and a configuration with these pools; the daemon is yet to be started."""
    with temporary_directory() as directory:
        kubelet = FakeKubelet(directory, watcher=way == WATCHER, version=version, timing=timing)
        node = Live(directory, host.lay(directory / "h"), kubelet, way)
        node.config.parent.mkdir()
        node.configure(*pools, **keys)
        with _telling(node):
            async with kubelet:
                try:
                    yield node
                finally:
                    await node.close()
            node.check()


async def together(*stories: Coroutine[Any, Any, None]) -> None:
    """Several nodes at once: most of their time is waiting."""
    async with asyncio.TaskGroup() as group:
        for story in stories:
            group.create_task(story)


@contextmanager
def _telling(node: Live) -> Iterator[None]:
    """A failure comes with the daemon's log."""
    try:
        yield
    except BaseException as failure:
        for process in node.logs:
            failure.add_note(f"log of the daemon:\n{process.text[-4000:]}")
        raise


def _by_stream(kubelet: FakeKubelet, resource: str) -> list[list[Received]]:
    """The lists of a resource, those of one stream together."""
    opened = kubelet.calls_of("ListAndWatch", resource)
    streams: list[list[Received]] = [[] for _ in opened]
    for message in kubelet.messages(resource):
        latest = max(i for i, call in enumerate(opened) if call.at <= message.at and call.socket == message.socket)
        streams[latest].append(message)
    return streams

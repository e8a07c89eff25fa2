"""The daemon in the test's own event loop: the real composition, with shorter waits and the model's clock."""

import asyncio
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from traceback import format_exception
from typing import Any, Final
from unittest import mock

from dependency_injector import providers

from adapters.devinfo.store import FileDeviceInfoStore
from adapters.kubelet import device_use, lifecycle, publisher
from application.following import Following, Pace
from application.holdings import Holdings
from application.link_holds import LinkHolds
from application.ports.change_feed import Change
from application.ports.pool_configuration import Configuration, ConfigurationInvalid, ConfigurationMissing
from domain.device_info import DeviceInfo
from entrypoints.container import Container, build
from entrypoints.settings import Settings
from tests.fakes.journal import FakeJournal
from tests.model.places import Places

_PACE: Final = Pace(quiet=0.002, patience=0.02, timer=60.0, blind_timer=0.05, rest=0.0)
_LOOK_AGAIN: Final = 0.05
_AGE: Final = 20.0
_DISK: Final = 0.003
_WORKERS: Final = 4
_UNEXPECTED: Final = {"task ended", "allocate failed"}


@contextmanager
def shorter_waits() -> Iterator[None]:
    """The waits of the kubelet adapter, each a fraction of what it is for a real kubelet."""
    with (
        mock.patch.object(lifecycle, "_UNHEARD_AFTER", 0.4),
        mock.patch.object(publisher, "_LOOK_INTERVAL", 0.05),
        mock.patch.object(device_use, "_SETTLED_AFTER", 2.0),
    ):
        yield


def executor() -> ThreadPoolExecutor:
    """For the loop: of a known number of threads, so that one can wait for all of them."""
    return ThreadPoolExecutor(_WORKERS, thread_name_prefix="blocking")


class InProcessDaemon:
    """Built anew at each start, as a process would be."""

    lingering = 0.0
    patience = 30.0

    def __init__(self, places: Places, config_file: Path) -> None:
        self._places = places
        self._settings = Settings(
            config_file=config_file,
            root=places.host,
            kubelet_dir=places.kubelet,
            devinfo_dir=places.devinfo,
            registration=places.way,
            health_check_interval=_LOOK_AGAIN,
        )
        self._journal = FakeJournal()
        self._container: Container | None = None
        self._following: Following | None = None
        self._task: asyncio.Task[None] | None = None
        self._later = 0.0

    @property
    def running(self) -> bool:
        return self._task is not None

    async def start(self) -> None:
        self._container = container = build(self._settings, self._journal)
        container.holdings.override(providers.Singleton(Holdings, container.device_use, self._clock))
        container.device_info_store.override(providers.Singleton(_SlowStore, self._settings.devinfo_dir))
        container.link_holds.override(providers.Singleton(LinkHolds, self._clock))
        self._following = Following(
            container.discovery(),
            container.configuration(),
            container.table(),
            container.feeds(),
            self._journal,
            _PACE,
            self._settings.health_check_interval,
        )
        started: Configuration | ConfigurationInvalid
        try:
            started = container.configuration().load()
        except ConfigurationMissing as missing:
            self._journal.warning("no configuration yet", reason=str(missing))
            started = missing
        self._task = asyncio.get_running_loop().create_task(self._following.run(started), name="follow")

    async def terminate(self) -> None:
        if self._task is None or self._container is None:
            return
        servers = [task for task in asyncio.all_tasks() if task.get_name().startswith("serve ")]
        self._task.cancel()
        (ending,) = await asyncio.gather(self._task, return_exceptions=True)
        if not isinstance(ending, asyncio.CancelledError):
            self._journal.error("task ended", task="follow", exc_info=ending)
        await self._container.publisher().stop()
        for task in servers:
            task.cancel()  # as asyncio.run does with tasks that are left
        await asyncio.gather(*servers, return_exceptions=True)
        await _blocking_work_done()
        self._task = self._following = self._container = None

    async def kill(self) -> None:
        """The sockets are made to look like somebody else's first: then nobody unlinks them."""
        if self._task is None or self._container is None:
            return
        for socket in self._places.pool_sockets():
            another_name = self._places.directory / "link"
            os.link(socket, another_name)
            another_name.unlink()
        self._task.cancel()
        await self._container.publisher().stop()
        await self.terminate()

    async def noticed(self) -> None:
        async with asyncio.timeout(self.patience):
            while self._container is not None and not self._is_up_to_date(self._container):
                await asyncio.sleep(_LOOK_AGAIN)

    def reload(self) -> None:
        if self._following is not None:
            self._following.wake(Change.CONFIGURATION)

    def age(self) -> None:
        self._later += _AGE

    def faults(self) -> Sequence[str]:
        found = [_line(*event) for event in self._journal.events if event[1] in _UNEXPECTED]
        if self._task is not None and self._task.done():
            found.append(f"the daemon ended: {self._task}")
        return found

    def census(self) -> dict[str, int]:
        return {
            "tasks": len(self._tasks()),
            "fds": len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - names only
        }

    def log(self) -> Sequence[str]:
        tasks = Counter(_coroutine(task) for task in self._tasks())
        return [*(_line(*event) for event in self._journal.events[-25:]), f"tasks: {dict(tasks)}"]

    def _is_up_to_date(self, container: Container) -> bool:
        return container.configuration().load().pools == tuple(container.table().wanted)

    def _tasks(self) -> set[asyncio.Task[Any]]:
        return set() if self._task is None else asyncio.all_tasks(self._task.get_loop())

    def _clock(self) -> float:
        return time.monotonic() + self._later


class _SlowStore(FileDeviceInfoStore):
    """Files on a disk that takes its time: whatever may happen meanwhile will."""

    def write(self, records: Sequence[DeviceInfo]) -> int:
        time.sleep(_DISK)
        return super().write(records)


async def _blocking_work_done() -> None:
    """Return when no thread works any more for what was cancelled."""
    loop, barrier = asyncio.get_running_loop(), threading.Barrier(_WORKERS)
    await asyncio.gather(*(loop.run_in_executor(None, barrier.wait) for _ in range(_WORKERS)))


def _coroutine(task: asyncio.Task[Any]) -> str:
    return getattr(task.get_coro(), "__qualname__", str(task))


def _line(level: str, event: str, facts: dict[str, Any]) -> str:
    told = " ".join(f"{name}={value}" for name, value in facts.items())
    failure = facts.get("exc_info")
    trace = "".join(format_exception(failure)) if isinstance(failure, BaseException) else ""
    return f"{level}: {event} {told}\n{trace}".rstrip()

"""All pools as the kubelet sees them (port PoolPublisher)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from adapters.kubelet.feed import Feed
from adapters.kubelet.lifecycle import PoolLifecycle
from adapters.kubelet.registrar import Registrar
from adapters.kubelet.service import Allocate
from application.ports.journal import Journal
from domain.announcement import Announced
from domain.resource_name import ResourceName

_LOOK_INTERVAL: Final = 1.0
"""Seconds between looks at the sockets."""


class Registration(Enum):
    """How the kubelet gets to know pools."""

    AUTO = "auto"
    """By the watcher if its directory exists, else the classic way; what the Go plugin does."""
    WATCHER = "watcher"
    CLASSIC = "classic"


@dataclass(frozen=True, slots=True)
class KubeletPaths:
    """The kubelet's directories: as this process sees them, and as the kubelet does."""

    own: Path
    host: Path

    @property
    def watcher(self) -> Path:
        return self.own / "plugins_registry"

    @property
    def classic(self) -> Path:
        return self.own / "device-plugins"


class KubeletPublisher:
    """One server a pool, each with a task of its own: the trouble of one pool is nobody else's."""

    def __init__(self, paths: KubeletPaths, registration: Registration, allocate: Allocate, journal: Journal) -> None:
        watched = paths.watcher.is_dir() if registration is Registration.AUTO else registration is Registration.WATCHER
        self._directory = paths.watcher if watched else paths.classic
        self._host_directory = paths.host / self._directory.name
        self._registrar = None if watched else Registrar(paths.classic / "kubelet.sock")
        self._allocate = allocate
        self._journal = journal
        self._feeds: dict[ResourceName, Feed] = {}
        self._lifecycles: list[PoolLifecycle] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def publish(self, resource: ResourceName, entries: Sequence[Announced]) -> None:
        if resource in self._feeds:
            self._feeds[resource].put(entries)
            return
        feed = self._feeds[resource] = Feed(entries)
        lifecycle = PoolLifecycle(
            resource,
            feed,
            self._directory,
            self._host_directory,
            self._registrar,
            self._allocate,
            self._journal,
        )
        if not self._tasks:
            self._start(self._look(), "look at sockets")
        self._lifecycles.append(lifecycle)
        self._start(lifecycle.run(), f"serve {resource}")

    async def stop(self) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_INTERVAL)
            for lifecycle in self._lifecycles:
                lifecycle.look()

    def _start(self, coroutine: "asyncio._CoroutineLike[None]", name: str) -> None:
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        task.add_done_callback(self._tell_end)
        self._tasks.append(task)

    def _tell_end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self._journal.error("task ended", task=task.get_name(), exc_info=error)

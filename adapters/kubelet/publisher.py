"""All pools as the kubelet sees them (ports PoolPublisher and KubeletContact)."""

import asyncio
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

import grpc

from adapters.files.inotify import ENTRIES, DirectoryWatch
from adapters.kubelet.claim import live_owner
from adapters.kubelet.dead_sockets import DeadSockets
from adapters.kubelet.feed import Feed
from adapters.kubelet.kubelet_socket import KubeletSocket
from adapters.kubelet.lifecycle import IsConfigured, PoolLifecycle
from adapters.kubelet.place import Place
from adapters.kubelet.service import Allocate
from adapters.kubelet.socket_path import resource_of
from application.ports.journal import Journal
from domain.announcement import Announced
from domain.resource_name import ResourceName

_LOOK_INTERVAL: Final = 1.0
"""Seconds between looks at the sockets, as the net under inotify."""
_LAST_WORDS: Final = 1.0
"""Seconds in which a kubelet that listens gets the empty list of a pool that goes."""

_CANCEL_AGAIN: Final = 0.7
"""Seconds in which a server ends, its last calls included."""


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


@dataclass(frozen=True, slots=True)
class _Pool:
    feed: Feed
    lifecycle: PoolLifecycle
    task: asyncio.Task[None]


class KubeletPublisher:
    """One server a pool, each with a task of its own: the trouble of one pool is nobody else's."""

    def __init__(
        self,
        paths: KubeletPaths,
        registration: Registration,
        allocate: Allocate,
        journal: Journal,
        is_configured: IsConfigured = lambda _: True,
    ) -> None:
        watched = _there(paths.watcher) if registration is Registration.AUTO else registration is Registration.WATCHER
        directory = paths.watcher if watched else paths.classic
        kubelet = KubeletSocket(paths.classic / "kubelet.sock")
        self._dead = DeadSockets(directory, journal)
        self._place = Place(directory, paths.host / directory.name, kubelet, classic=not watched)
        self._sockets = (paths.watcher, paths.classic)
        self._directories = [str(directory), str(paths.classic), str(paths.own)]
        self._allocate = allocate
        self._is_configured = is_configured
        self._journal = journal
        self._pools: dict[ResourceName, _Pool] = {}
        self._watch = DirectoryWatch(ENTRIES, self._stir)
        self._looking: asyncio.Task[None] | None = None
        # What gRPC makes with its first channel it must have files for, or it aborts the process: so that is now. It
        # would give it up with its last channel or server, so this one is kept, and never connects.
        with suppress(RuntimeError):  # who only builds this has no event loop
            asyncio.get_running_loop()
            grpc.aio.init_grpc_aio()
        self._first = grpc.insecure_channel("unix:/")

    async def publish(self, resource: ResourceName, entries: Sequence[Announced]) -> None:
        if resource in self._pools:
            self._pools[resource].feed.put(entries)
            return
        if self._looking is None:
            self._start_watch()
            self._looking = self._start(self._look(), "look at sockets")
        feed = Feed(entries)
        lifecycle = PoolLifecycle(resource, feed, self._place, self._allocate, self._is_configured, self._journal)
        self._pools[resource] = _Pool(feed, lifecycle, self._start(lifecycle.run(), f"serve {resource}"))

    async def withdraw(self, resource: ResourceName) -> None:
        pool = self._pools.get(resource)
        if pool is None:
            return
        await pool.feed.end(within=_LAST_WORDS)
        await _cancel([pool.task])
        del self._pools[resource]

    async def neighbours(self) -> Collection[ResourceName]:
        ours = {resource for resource, pool in self._pools.items() if pool.lifecycle.serves}
        found: set[ResourceName] = set()
        for path in await asyncio.to_thread(lambda: [d / name for d in self._sockets for name in _names(d)]):
            resource = resource_of(path.name)
            if resource and resource not in ours | found and await live_owner(path):
                found.add(resource)
        return found

    def unheard(self) -> Mapping[ResourceName, float | None]:
        return {resource: pool.lifecycle.unheard for resource, pool in self._pools.items()}

    async def stop(self) -> None:
        self._watch.stop()
        tasks = [pool.task for pool in self._pools.values()]
        await _cancel([*tasks, self._looking] if self._looking else tasks)
        self._pools.clear()
        self._looking = None
        self._first.close()

    def _start_watch(self) -> None:
        try:
            self._watch.start()
        except OSError as error:
            reason, net = str(error.strerror), f"a look every {_LOOK_INTERVAL:g} s"
            self._journal.warning("cannot follow", source="the kubelet's directories", reason=reason, instead=net)
            return
        self._watch.watch(self._directories)

    def _stir(self, _: Sequence[str]) -> None:
        self._watch.watch(self._directories)
        for pool in self._pools.values():
            pool.lifecycle.stir()

    async def _look(self) -> None:
        while True:
            await self._dead.sweep({resource.prefix for resource in self._pools})
            await asyncio.sleep(_LOOK_INTERVAL)
            for pool in list(self._pools.values()):
                await pool.lifecycle.look()

    def _start(self, coroutine: "asyncio._CoroutineLike[None]", name: str) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        task.add_done_callback(self._tell_end)
        return task

    def _tell_end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self._journal.error("task ended", task=task.get_name(), exc_info=error)


def _names(directory: Path) -> list[str]:
    try:
        return os.listdir(directory)  # noqa: PTH208 - names only
    except OSError:
        return []


def _there(directory: Path) -> bool:
    try:
        return directory.is_dir()
    except OSError:
        return True  # and may not be looked at: a pool that cannot be served there says why, and tries again


async def _cancel(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks until they end: grpc.aio waits by asyncio.wait_for, which may lose a cancellation in Python 3.11."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=_CANCEL_AGAIN)

"""The life of one pool's server: serve, be known, notice loss, begin again."""

import asyncio
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_exponential

from adapters.kubelet.claim import SocketTaken, remove_dead
from adapters.kubelet.feed import Feed
from adapters.kubelet.instance import Instance, SocketUnbindable
from adapters.kubelet.kubelet_socket import KubeletAbsent, KubeletSocket
from adapters.kubelet.service import Allocate, IntroductionService, PoolService
from adapters.kubelet.socket_path import is_of_pool, socket_name
from application.ports.journal import Journal
from domain.errors import SriovError
from domain.resource_name import ResourceName

_RETRY: Final = wait_exponential(multiplier=0.1, max=5.0)
_AWAITED: Final = (KubeletAbsent, SocketTaken, SocketUnbindable)
"""What ends by something that happens to the sockets or their directory."""
_EXPECTED: Final = (SriovError, OSError, grpc.aio.AioRpcError, RuntimeError)
_LOOK_FOR_KUBELET: Final = 0.2
"""Seconds between looks for a kubelet whose socket is not there; inotify is faster where it works."""
_LOOK_AT_KUBELET: Final = 0.01
"""The same while the socket is there: a starting kubelet binds it a moment before it listens."""
_LAST_CALLS: Final = 0.5
"""Seconds in which calls of a kubelet that has no stream open are answered at the end."""
_UNHEARD_AFTER: Final = 5.0
"""Seconds in which a kubelet that answers must have begun to listen: a watcher takes two, after it has started."""
_UNHEARD_AT_MOST: Final = 300.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a pool's socket goes, and how the kubelet gets to know of it."""

    directory: Path
    host_directory: Path
    """The same directory as the kubelet sees it."""
    kubelet: KubeletSocket
    classic: bool
    """By Register on the kubelet's socket; else the kubelet's plugin watcher finds the pool's."""


class PoolLifecycle:
    """Keeps one pool known to the kubelet until it is cancelled.

    The classic way each server gets one Register and a path of its own, because a kubelet that is told of a path twice
    forgets the server behind it (1.37, dm/plugin/v1beta1/handler.go).
    """

    def __init__(self, resource: ResourceName, feed: Feed, place: Place, allocate: Allocate, journal: Journal) -> None:
        self._resource = resource
        self._place = place
        self._journal = journal
        self._service = PoolService(resource, feed, allocate, journal)
        self._instance: Instance | None = None
        self._lost: asyncio.Future[str] | None = None
        self._stirred = asyncio.Event()
        self._awaits = False
        self._kubelet: tuple[int, int, int] | None = None
        self._unheard_since = 0.0
        self._patience = _UNHEARD_AFTER

    @property
    def unheard(self) -> float | None:
        """Seconds since a kubelet listened, over all servers of the pool; None while one does."""
        return self._service.unheard

    async def run(self) -> None:
        """Serve until cancelled; then nothing of ours is left in the directory."""
        while True:
            await self._begin()
            try:
                self._lost = asyncio.get_running_loop().create_future()
                self._unheard_since = time.monotonic()
                self._journal.warning("served anew", resource=str(self._resource), reason=await self._lost)
            finally:
                await self._end()

    def stir(self) -> None:
        """Something happened to the sockets: look at once, and do not wait for a kubelet any longer."""
        self._stirred.set()
        if self._instance is None or self._lost is None or self._lost.done():
            return
        if self._instance.gone:
            self._lost.set_result(f"{self._instance.path} was removed")
        elif self._place.classic and self._place.kubelet.life not in (None, self._kubelet):
            self._lost.set_result("the kubelet was restarted")

    async def look(self) -> None:
        """As `stir`, and notice that a living kubelet does not listen.

        It never calls ListAndWatch again by itself, whichever way a stream was lost (dm/plugin/v1beta1/handler.go).
        """
        self.stir()
        now = time.monotonic()
        if self._service.streams:
            self._unheard_since, self._patience = now, _UNHEARD_AFTER
            return
        if not await self._place.kubelet.answers():
            self._unheard_since = now
            return
        if now - self._unheard_since <= self._patience:
            return
        if self._lost is not None and not self._lost.done() and not self._service.streams:
            self._patience = min(self._patience * 2, _UNHEARD_AT_MOST)
            self._lost.set_result("the kubelet does not listen")

    async def _begin(self) -> None:
        tell = _TellOnce(self._resource, self._journal)
        retry = retry_if_exception_type(_EXPECTED)
        async for attempt in AsyncRetrying(wait=self._pause, sleep=self._sleep, retry=retry, before_sleep=tell):
            with attempt:
                await self._begin_once()

    async def _begin_once(self) -> None:
        kubelet = self._place.kubelet
        if self._place.classic:
            await kubelet.require()
            self._kubelet = kubelet.life
        await self._require_no_other()
        instance = self._instance = self._new_instance()
        try:
            await instance.start()
            if self._place.classic:
                await kubelet.register(self._resource, instance.path.name)
        except BaseException:
            await self._end()
            raise
        self._journal.info("serving", resource=str(self._resource), socket=str(instance.path))

    async def _require_no_other(self) -> None:
        """Return if no other process serves the pool; what a killed one left is removed.

        Raises:
            SocketTaken: if one does. Registering would take the kubelet away from it.
            SocketUnbindable: if there is no such directory.
        """
        directory, host_directory = self._place.directory, self._place.host_directory
        try:
            names = os.listdir(directory)  # noqa: PTH208 - names only
        except OSError as error:
            raise SocketUnbindable(directory, str(error.strerror)) from error
        for name in names:
            if is_of_pool(name, self._resource, directory, host_directory):
                await remove_dead(directory / name)

    async def _end(self) -> None:
        self._lost = None
        if self._instance is not None:
            # An open stream would last for the whole grace; where there is none, what was said last may be under way.
            await self._instance.stop(None if self._service.streams else _LAST_CALLS)
            self._instance = None

    def _new_instance(self) -> Instance:
        directory, host_directory = self._place.directory, self._place.host_directory
        if self._place.classic:
            name = socket_name(self._resource, directory, host_directory, marked=True)
            return Instance(directory / name, self._service, None)
        path = directory / socket_name(self._resource, directory, host_directory)
        # Left empty the kubelet uses the socket where it found it, which is right under any mount.
        endpoint = "" if host_directory == directory else str(host_directory / path.name)
        return Instance(path, self._service, IntroductionService(self._resource, endpoint, self._journal))

    def _pause(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        self._awaits = isinstance(error, _AWAITED)
        if not isinstance(error, KubeletAbsent):
            return _RETRY(state)
        return _LOOK_FOR_KUBELET if self._place.kubelet.life is None else _LOOK_AT_KUBELET

    async def _sleep(self, seconds: float) -> None:
        """Until the next attempt, which is at once when what is awaited may have happened.

        Waiting makes nothing happen itself: an attempt leaves the directory alone until all this is there.
        """
        if not self._awaits:
            await asyncio.sleep(seconds)
            return
        self._stirred.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._stirred.wait()
        except TimeoutError:
            return


class _TellOnce:
    """Logs why a pool is not served yet, again only when the reason changes."""

    def __init__(self, resource: ResourceName, journal: Journal) -> None:
        self._resource = resource
        self._journal = journal
        self._said = ""

    def __call__(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        if str(error) != self._said:
            self._said = str(error)
            tell = self._journal.info if isinstance(error, KubeletAbsent) else self._journal.warning
            tell("not served yet", resource=str(self._resource), reason=self._said)

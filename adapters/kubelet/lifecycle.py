"""The life of one pool's server: serve, be known, notice loss, begin again."""

import asyncio
import time
from collections.abc import Callable
from math import inf
from typing import Final

import grpc
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_exponential

from adapters.kubelet.claim import SocketTaken
from adapters.kubelet.feed import Feed
from adapters.kubelet.instance import Instance, SocketUnbindable
from adapters.kubelet.kubelet_socket import KubeletAbsent
from adapters.kubelet.place import Place
from adapters.kubelet.service import Allocate, IntroductionService, PoolService
from adapters.kubelet.succession import PoolLeft, tell_that_one_waits
from adapters.kubelet.tell_once import TellOnce
from application.ports.journal import Journal
from domain.errors import SriovError
from domain.resource_name import ResourceName

_RETRY: Final = wait_exponential(multiplier=0.1, max=5.0)
IsConfigured = Callable[[ResourceName], bool]
"""Whether a pool is in the configuration. One that only drains is left to whoever else wants to serve it."""

_AWAITED: Final = (KubeletAbsent, SocketTaken, SocketUnbindable, PoolLeft)
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
_TAKEN_WITHIN: Final = 10.0
"""Seconds that the process which asked for a pool has to serve it."""


class PoolLifecycle:
    """Keeps one pool known to the kubelet until it is cancelled.

    The classic way each server gets one Register and a path of its own, because a kubelet that is told of a path twice
    forgets the server behind it (1.37, dm/plugin/v1beta1/handler.go).
    """

    def __init__(
        self,
        resource: ResourceName,
        feed: Feed,
        place: Place,
        allocate: Allocate,
        is_configured: IsConfigured,
        journal: Journal,
    ) -> None:
        self._resource = resource
        self._place = place
        self._is_configured = is_configured
        self._left_until = -inf
        self._journal = journal
        self._service = PoolService(resource, feed, allocate, journal)
        self._service.awaited = self._leave
        self._instance: Instance | None = None
        self._lost: asyncio.Future[str] | None = None
        self._stirred = asyncio.Event()
        self._awaits = False
        self._kubelet: tuple[int, int, int] | None = None
        self._unheard_since = 0.0
        self._patience = _UNHEARD_AFTER

    @property
    def serves(self) -> bool:
        """Whether the pool's socket is ours."""
        return self._instance is not None

    @property
    def unheard(self) -> float | None:
        """Seconds since a kubelet listened, over all servers of the pool; None while one does, or need not."""
        return self._service.unheard if self._is_configured(self._resource) else None

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
        tell = TellOnce(self._resource, self._journal)
        retry = retry_if_exception_type(_EXPECTED)
        async for attempt in AsyncRetrying(wait=self._pause, sleep=self._sleep, retry=retry, before_sleep=tell):
            with attempt:
                await self._begin_once()

    def _leave(self) -> None:
        """Another process waits to serve the pool."""
        if self._lost is not None and not self._lost.done() and not self._is_configured(self._resource):
            self._left_until = time.monotonic() + _TAKEN_WITHIN
            self._lost.set_result("another process waits to serve it, which is in no configuration here")

    async def _begin_once(self) -> None:
        """Try to serve.

        Raises:
            PoolLeft: if the pool only drains, and another process serves it or is about to.
            SriovError: if it cannot be served yet.
        """
        if time.monotonic() < self._left_until and not self._is_configured(self._resource):
            raise PoolLeft(self._resource)
        try:
            await self._serve()
        except SocketTaken as taken:
            if not taken.live:
                raise
            if not self._is_configured(self._resource):
                raise PoolLeft(self._resource) from taken
            await tell_that_one_waits(taken.path)
            raise

    async def _serve(self) -> None:
        kubelet = self._place.kubelet
        if self._place.classic:
            await kubelet.require()
            self._kubelet = kubelet.life
        await self._place.require_no_other(self._resource)
        instance = self._instance = self._new_instance()
        try:
            await instance.start()
            if self._place.classic:
                await kubelet.register(self._resource, instance.path.name)
        except BaseException:
            await self._end()
            raise
        self._journal.info("serving", resource=str(self._resource), socket=str(instance.path))

    async def _end(self) -> None:
        self._lost = None
        if self._instance is not None:
            # An open stream would last for the whole grace; where there is none, what was said last may be under way.
            await self._instance.stop(None if self._service.streams else _LAST_CALLS)
            self._instance = None

    def _new_instance(self) -> Instance:
        path = self._place.socket(self._resource)
        if self._place.classic:
            return Instance(path, self._service, None)
        introduction = IntroductionService(self._resource, self._place.endpoint(path), self._journal)
        return Instance(path, self._service, introduction)

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

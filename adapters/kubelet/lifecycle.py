"""The life of one pool's server: serve, be known, notice loss, begin again."""

import asyncio
import time
from pathlib import Path
from typing import Final

import grpc
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_exponential

from adapters.kubelet.feed import Feed
from adapters.kubelet.instance import Instance
from adapters.kubelet.registrar import KubeletAbsent, Registrar
from adapters.kubelet.service import Allocate, IntroductionService, PoolService
from adapters.kubelet.socket_path import socket_name
from application.ports.journal import Journal
from domain.errors import SriovError
from domain.resource_name import ResourceName

_RETRY: Final = wait_exponential(multiplier=0.1, max=5.0)
_LOOK_FOR_KUBELET: Final = 0.2
"""Seconds: the Node loses the resource at its next update if the new kubelet is met late."""


class PoolLifecycle:
    """Keeps one pool known to the kubelet until it is cancelled.

    With a registrar the classic way: one Register for each server, each server on a new path, because a kubelet that is
    told of a path twice forgets the server behind it (1.37, dm/plugin/v1beta1/handler.go). Without one the kubelet's
    plugin watcher finds the socket by itself.
    """

    def __init__(
        self,
        resource: ResourceName,
        feed: Feed,
        directory: Path,
        host_directory: Path,
        registrar: Registrar | None,
        allocate: Allocate,
        journal: Journal,
    ) -> None:
        self._resource = resource
        self._directory = directory
        self._host_directory = host_directory
        self._registrar = registrar
        self._journal = journal
        self._service = PoolService(resource, feed, allocate, journal)
        self._lost: asyncio.Future[str] | None = None
        self._instance: Instance | None = None
        self._kubelet: tuple[int, int, int] | None = None

    async def run(self) -> None:
        """Serve until cancelled; then nothing of ours is left in the directory."""
        while True:
            await self._begin()
            try:
                self._lost = asyncio.get_running_loop().create_future()
                reason = await self._lost
                self._journal.warning("served anew", resource=str(self._resource), reason=reason)
            finally:
                await self._end()

    def look(self) -> None:
        """Notice a socket that is gone, or another kubelet than the one that knows this server."""
        if self._lost is None or self._lost.done() or self._instance is None:
            return
        if self._instance.gone:
            self._lost.set_result(f"{self._instance.path} was removed")
        elif self._registrar and self._registrar.kubelet not in (None, self._kubelet):
            self._lost.set_result("the kubelet was restarted")

    async def _begin(self) -> None:
        expected = retry_if_exception_type((SriovError, OSError, grpc.aio.AioRpcError, RuntimeError))
        async for attempt in AsyncRetrying(wait=_pause, retry=expected, before_sleep=self._tell_once()):
            with attempt:
                await self._begin_once()

    async def _begin_once(self) -> None:
        registrar = self._registrar
        if registrar:
            await registrar.require_kubelet()
            self._kubelet = registrar.kubelet
        instance = self._instance = self._new_instance()
        try:
            await instance.start()
            if registrar:
                await registrar.register(self._resource, instance.path.name)
        except BaseException:
            await self._end()
            raise
        self._journal.info("serving", resource=str(self._resource), socket=str(instance.path))

    async def _end(self) -> None:
        self._lost = None
        if self._instance is not None:
            await self._instance.stop()
            self._instance = None

    def _new_instance(self) -> Instance:
        if self._registrar:
            name = socket_name(self._resource, self._directory, self._host_directory, f"{time.time_ns() // 1000:x}")
            return Instance(self._directory / name, self._service, None)
        path = self._directory / socket_name(self._resource, self._directory, self._host_directory)
        # Left empty the kubelet uses the socket where it found it, which is right under any mount.
        elsewhere = self._host_directory != self._directory
        endpoint = str(self._host_directory / path.name) if elsewhere else ""
        return Instance(path, self._service, IntroductionService(self._resource, endpoint, self._journal))

    def _tell_once(self) -> "_TellOnce":
        return _TellOnce(self._resource, self._journal)


def _pause(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return _LOOK_FOR_KUBELET if isinstance(error, KubeletAbsent) else _RETRY(state)


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

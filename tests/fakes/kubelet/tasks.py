"""The background tasks of one kubelet process: they end with it, and none fails unheard."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class ProcessDied(Exception):
    """The kubelet process ended while it worked on this."""


class Tasks:
    def __init__(self, failures: list[BaseException]) -> None:
        self._failures = failures
        self._tasks: set[asyncio.Task[Any]] = set()
        self._dying = False

    def spawn(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def background(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self.spawn(work, name).add_done_callback(self._note)

    async def run(self, work: Coroutine[Any, Any, T], name: str) -> T:
        """Do the work as this process: its death ends the work, not the caller."""
        if self._dying:
            work.close()
            raise ProcessDied(name)
        task = self.spawn(work, name)
        try:
            return await task
        except asyncio.CancelledError:
            if self._dying and not cancelled_from_outside():
                raise ProcessDied(name) from None
            raise

    async def end(self) -> None:
        self._dying = True
        rest = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    def _note(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (failure := task.exception()):
            self._failures.append(failure)


def cancelled_from_outside() -> bool:
    """Whether this task is being cancelled, rather than something it waits for.

    grpc.aio reports a channel that was closed under a call as CancelledError, too.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0

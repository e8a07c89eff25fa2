"""What all nodes of a run share: one event loop, and how long they may take."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from tests.hosts.ground import temporary_directory
from tests.model.broken import Broken
from tests.model.in_process import InProcessDaemon, executor, shorter_waits
from tests.model.node import Node
from tests.model.settling import settle_in_the_end
from tests.model.setup import WAYS, Setup

T = TypeVar("T")
_LONGEST: Final = 120.0
"""Seconds for any one thing that is done to a node."""
_LAST_CHANCE: Final = 10.0
_LAST_CALLBACKS: Final = 0.01
_FILES_OF_GRPC: Final = 8
"""How many its poller may have more or less of from one moment to the next."""


class Ground:
    """The first thing that goes wrong ends the run: `failure` is what it is to be reported as.

    Real daemons do not do the same twice, so what hypothesis makes of a failure may be that it cannot be had again.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.failure: Exception | None = None
        for way in WAYS:
            self.run(_an_uneventful_life(Setup(way=way)))
        self._files = open_files() + _FILES_OF_GRPC

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(in_time(work))

    def step(self, work: Callable[[], None], told: Callable[[], str]) -> None:
        """Do it; what goes wrong in it comes with what is *told* of the node."""
        try:
            work()
        except Exception as failure:
            if self.failure is None:
                self.failure = failure
                if not isinstance(failure, Broken):
                    failure.add_note(told())
            raise

    def require_no_failure(self) -> None:
        if self.failure is not None:
            raise RuntimeError("something went wrong before")

    def clear(self, node: Node) -> None:
        """End a node, whatever state it is in."""
        self.run(node.close())
        self.run(asyncio.sleep(_LAST_CALLBACKS))

    def leftovers(self) -> list[str]:
        """Tasks and open files that outlive the node that had them."""
        tasks = [str(task) for task in asyncio.all_tasks(self.loop)]
        files = open_files()
        return tasks + ([f"{files} open files instead of {self._files}"] if files > self._files else [])


@contextmanager
def ground() -> Iterator[Ground]:
    loop = asyncio.new_event_loop()
    loop.set_default_executor(executor())
    try:
        with shorter_waits():
            yield Ground(loop)
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


class Stuck(Exception):
    """Something does not come to an end, and what everybody is waiting for."""


async def in_time(work: Coroutine[Any, Any, T]) -> T:
    """Do it.

    Raises:
        Stuck: if it takes longer than anything may.
    """
    task = asyncio.get_running_loop().create_task(work)
    await asyncio.wait({task}, timeout=_LONGEST)
    if not task.done():
        tasks = "\n".join(_place(other) for other in asyncio.all_tasks() if other is not asyncio.current_task())
        task.cancel()
        await asyncio.wait({task}, timeout=_LAST_CHANCE)
        raise Stuck(f"not done after {_LONGEST:g} s; what waits:\n{tasks}")
    return task.result()


def _place(task: asyncio.Task[Any]) -> str:
    frames = [f"{frame.f_code.co_filename}:{frame.f_lineno}" for frame in task.get_stack()]
    return f"  {task.get_name()}, cancelled {task.cancelling()} times: {frames or task.get_coro()}"


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names only


async def _an_uneventful_life(setup: Setup) -> None:
    """After it everything is there that a process makes only once."""
    with temporary_directory() as directory:
        node = Node(directory, setup, InProcessDaemon)
        await node.open()
        try:
            await settle_in_the_end(node)
        finally:
            await node.close()

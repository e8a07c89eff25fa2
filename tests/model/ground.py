"""What all nodes of a run share: one event loop, and how long they may take."""

import asyncio
import os
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from tests.hosts.ground import temporary_directory
from tests.model.in_process import InProcessDaemon, executor, shorter_waits
from tests.model.node import Node
from tests.model.settling import settle_in_the_end
from tests.model.setup import WAYS, Setup

T = TypeVar("T")
_PATIENCE: Final = 8.0
_PATIENCE_FOR_SHRINKING: Final = 3.0
_LAST_CALLBACKS: Final = 0.01
_FILES_OF_GRPC: Final = 8
"""How many its poller may have more or less of from one moment to the next."""


class Ground:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.patience = _PATIENCE
        for way in WAYS:
            self.run(_an_uneventful_life(Setup(way=way)))
        self._files = open_files() + _FILES_OF_GRPC

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def be_quick(self) -> None:
        """Something is broken already, and is now to be found in fewer steps."""
        self.patience = _PATIENCE_FOR_SHRINKING

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

"""The loop with fakes all around."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

from application.discovery import Discovery
from application.following import Following, Pace
from application.pool_table import PoolTable
from application.ports.change_feed import Change
from application.ports.pool_configuration import Configuration, ConfigurationInvalid
from domain.pool import PoolSpec
from tests.fakes.journal import FakeJournal
from tests.unit.domain.facts import pool

A, B = pool("a"), pool("b")
TINY = Pace(quiet=0.02, patience=0.1, timer=0.5, blind_timer=0.05, rest=0.0)
NEVER = 3600.0


@dataclass
class Looks:
    """Stands for Discovery: counts looks; `due` and `error` are what the next ones give; each takes `takes`."""

    times: list[float] = field(default_factory=list)
    pools: list[Sequence[PoolSpec]] = field(default_factory=list)
    due: float | None = None
    error: Exception | None = None
    takes: float = 0.0
    table: PoolTable = field(default_factory=PoolTable)

    async def reconcile(self) -> float | None:
        self.times.append(asyncio.get_running_loop().time())
        self.pools.append(self.table.wanted)
        error, due = self.error, self.due
        await asyncio.sleep(self.takes)
        if error:
            raise error
        return due


@dataclass
class File:
    """A configuration, or why there is none."""

    content: Configuration | Exception
    loads: int = 0

    def load(self) -> Configuration:
        self.loads += 1
        if isinstance(self.content, Exception):
            raise self.content
        return self.content


@dataclass
class Feed:
    """A change feed; `error` makes it one that is not to be had."""

    name: str = "a feed"
    error: OSError | None = None
    wake: Callable[[Change], None] | None = None
    stops: int = 0

    def start(self, wake: Callable[[Change], None]) -> None:
        if self.error:
            raise self.error
        self.wake = wake

    def stop(self) -> None:
        self.stops += 1


class Loop:
    """A loop under test, and everything around it."""

    def __init__(self, pace: Pace = TINY, *feeds: Feed, check_interval: float = NEVER) -> None:
        self.looks = Looks()
        self.file = File(Configuration((A,)))
        self.feeds = feeds
        self.journal = FakeJournal()
        self.following = Following(
            cast(Discovery, self.looks), self.file, self.looks.table, feeds, self.journal, pace, check_interval
        )

    def run(
        self,
        story: Callable[[], Awaitable[None]],
        started: Configuration | ConfigurationInvalid = Configuration((A,)),  # noqa: B008 - a constant
    ) -> None:
        """Let it run while the story is told."""

        async def whole() -> None:
            running = asyncio.create_task(self.following.run(started))
            try:
                async with asyncio.timeout(60):
                    await story()
            finally:
                running.cancel()
                with suppress(asyncio.CancelledError):
                    await running

        asyncio.run(whole())

    async def until(self, looks: int) -> None:
        while len(self.looks.times) < looks:
            await asyncio.sleep(0.005)

    async def reload(self) -> None:
        """Tell of an edit, and wait for the look that follows."""
        looks = len(self.looks.times)
        self.following.wake(Change.CONFIGURATION)
        await self.until(looks + 1)

    async def none_for(self, seconds: float) -> bool:
        before = len(self.looks.times)
        await asyncio.sleep(seconds)
        return len(self.looks.times) == before

"""Who listens to a change feed in a test."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from application.ports.change_feed import Change, ChangeFeed

WITHIN = 60.0
SILENCE = 0.3
ENDLESS = 30.0


class Heard:
    """Every change so far."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._rung = asyncio.Event()

    def wake(self, change: Change) -> None:
        self.changes.append(change)
        self._rung.set()

    async def after(self, act: Callable[[], object]) -> set[Change]:
        """What is heard of an act, until it is quiet again."""
        self.forget()
        act()
        async with asyncio.timeout(WITHIN):
            await self._rung.wait()
        await self.quiet()
        return set(self.changes)

    async def nothing_after(self, act: Callable[[], object]) -> bool:
        """Whether an act is passed over in silence."""
        self.forget()
        act()
        with suppress(TimeoutError):
            async with asyncio.timeout(SILENCE):
                await self._rung.wait()
        return not self.changes

    async def quiet(self) -> None:
        """Wait until nothing has come for a moment.

        Raises:
            TimeoutError: if there is no end of it.
        """
        seen = -1
        async with asyncio.timeout(ENDLESS):
            while len(self.changes) != seen:
                seen = len(self.changes)
                await asyncio.sleep(0.05)

    def forget(self) -> None:
        self.changes.clear()
        self._rung.clear()


@asynccontextmanager
async def listening(feed: ChangeFeed) -> AsyncIterator[Heard]:
    heard = Heard()
    feed.start(heard.wake)
    try:
        yield heard
    finally:
        feed.stop()
        feed.stop()  # once more is no error


def run(story: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        await story()

    asyncio.run(whole())

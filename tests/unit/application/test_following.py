"""When the loop looks, and what it does about trouble; how a host is read and published is test_discovery.py."""

import asyncio
from itertools import pairwise

from application.following import Pace
from application.ports.change_feed import Change
from application.ports.pool_configuration import Configuration
from domain.errors import FilesUnwritable
from tests.unit.application.loop import NEVER, TINY, A, B, Feed, Loop


def test_the_first_look_comes_at_once_and_without_a_change_none_follows_before_its_time() -> None:
    loop = Loop(Pace(timer=NEVER))

    async def story() -> None:
        await loop.until(1)
        assert await loop.none_for(0.3)
        assert loop.looks.pools == [(A,)]
        assert loop.file.loads == 0

    loop.run(story)


def test_a_burst_of_changes_is_one_look_after_it_is_over() -> None:
    feed = Feed()
    loop = Loop(Pace(quiet=0.2, patience=30, timer=NEVER, rest=0), feed)

    async def story() -> None:
        await loop.until(1)
        assert feed.wake
        for _ in range(20):
            feed.wake(Change.HOST)
            await asyncio.sleep(0.01)
        assert len(loop.looks.times) == 1
        await loop.until(2)
        assert await loop.none_for(0.4)

    loop.run(story)


def test_changes_without_end_are_looked_at_every_so_often_all_the_same() -> None:
    """After patience, not after quiet."""
    loop = Loop(Pace(quiet=30, patience=0.2, timer=NEVER, rest=0))
    endless = Loop(Pace(quiet=0.05, patience=0.2, timer=NEVER, rest=0))

    async def story() -> None:
        await endless.until(1)
        began = asyncio.get_running_loop().time()
        while len(endless.looks.times) < 4:
            endless.following.wake(Change.HOST)
            await asyncio.sleep(0.005)
        assert asyncio.get_running_loop().time() - began > 0.5

    endless.run(story)
    assert loop.looks.times == []


def test_a_look_that_took_long_is_followed_by_a_rest() -> None:
    loop = Loop(Pace(quiet=0, patience=0, timer=NEVER, rest=4))
    loop.looks.takes = 0.1

    async def story() -> None:
        while len(loop.looks.times) < 4:
            loop.following.wake(Change.HOST)
            await asyncio.sleep(0.005)
        gaps = [after - before for before, after in pairwise(loop.looks.times[1:])]  # the first look is the start
        assert min(gaps) >= 0.45

    loop.run(story)


def test_a_change_that_comes_during_a_look_or_a_rest_is_not_lost() -> None:
    loop = Loop(Pace(quiet=0.01, patience=0.02, timer=NEVER, rest=1))
    loop.looks.takes = 0.1

    async def story() -> None:
        await loop.until(1)
        loop.following.wake(Change.HOST)  # during the look
        await loop.until(2)
        await asyncio.sleep(0.15)
        loop.following.wake(Change.HOST)  # during the rest
        await loop.until(3)
        assert await loop.none_for(0.4)

    loop.run(story)


def test_without_changes_the_timer_looks_and_reads_the_configuration_too() -> None:
    loop = Loop(TINY)

    async def story() -> None:
        await loop.until(1)
        loop.file.content = Configuration((A, B))
        await loop.until(3)
        assert loop.looks.pools[-1] == (A, B)
        assert loop.looks.times[2] - loop.looks.times[1] >= 0.4

    loop.run(story)


def test_the_check_interval_of_the_configuration_is_the_timer_where_it_is_shorter() -> None:
    loop = Loop(Pace(timer=NEVER, rest=0), check_interval=NEVER)
    loop.file.content = often = Configuration((A,), check_interval=0.05)

    async def story() -> None:
        await loop.until(4)
        loop.file.content = Configuration((A,))
        loaded = loop.file.loads
        while loop.file.loads == loaded:
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.1)
        assert await loop.none_for(0.3)

    loop.run(story, often)


def test_a_look_that_says_when_the_next_is_due_is_believed() -> None:
    loop = Loop(Pace(timer=NEVER, rest=0))
    loop.looks.due = 0.05

    async def story() -> None:
        await loop.until(4)

    loop.run(story)


def test_a_feed_that_is_not_to_be_had_is_told_once_and_a_quicker_timer_stands_in() -> None:
    blind, good = Feed("blind", OSError(1, "Operation not permitted")), Feed("good")
    loop = Loop(Pace(timer=NEVER, blind_timer=0.05, rest=0), blind, good)

    async def story() -> None:
        await loop.until(4)
        assert good.wake

    loop.run(story)
    assert loop.journal.told("cannot follow") == [{"source": "blind", "reason": "Operation not permitted"}]
    assert (blind.stops, good.stops) == (1, 1)


def test_trouble_with_files_is_told_and_tried_again_soon() -> None:
    loop = Loop(Pace(timer=NEVER, blind_timer=0.05, rest=0))
    loop.looks.error = FilesUnwritable("devinfo", "No space left on device", "free space")

    async def story() -> None:
        await loop.until(3)
        loop.looks.error = None
        await loop.until(4)
        assert await loop.none_for(0.2)

    loop.run(story)
    assert "No space left" in loop.journal.told("not reconciled")[0]["reason"]


def test_an_error_that_nobody_thought_of_ends_nothing() -> None:
    """Case I05's kind: pools go on, the log has the trace."""
    loop = Loop(Pace(timer=NEVER, blind_timer=0.05, rest=0))
    loop.looks.error = ZeroDivisionError("odd")

    async def story() -> None:
        await loop.until(2)
        loop.looks.error = None
        await loop.until(3)

    loop.run(story)


def test_feeds_are_stopped_at_the_end() -> None:
    feed = Feed()
    loop = Loop(TINY, feed)

    async def story() -> None:
        await loop.until(1)

    loop.run(story)
    assert feed.stops == 1

"""Calls whose caller has gone."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from application.bounded_calls import BoundedCalls, Deadline
from domain.errors import HostUnresponsive

LONG = 60.0


class Slow:
    """A call that hangs until it is let go on, and then may find that nobody waits any more."""

    def __init__(self) -> None:
        self.began, self.go_on = threading.Event(), threading.Event()
        self.outcome = ""

    def __call__(self, deadline: Deadline) -> None:
        self.began.set()
        self.go_on.wait(LONG)
        try:
            deadline.check()
            self.outcome = "done"
        except HostUnresponsive:
            self.outcome = "left"
            raise


@pytest.fixture
def slow() -> Iterator[Slow]:
    call = Slow()
    yield call
    call.go_on.set()


async def given_up(calls: BoundedCalls, slow: Slow) -> None:
    task = asyncio.create_task(calls.run(["a"], slow))
    await asyncio.to_thread(slow.began.wait, LONG)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_call_whose_caller_has_gone_leaves_everything_as_it_is_and_the_next_one_waits_for_that(slow: Slow) -> None:
    async def story() -> list[str]:
        calls, order = BoundedCalls(LONG), []
        await given_up(calls, slow)
        following = asyncio.create_task(calls.run(["a", "b"], lambda _: order.append(f"after {slow.outcome!r}")))
        await calls.run(["c"], lambda _: order.append("another device"))
        slow.go_on.set()
        await following
        return order

    assert asyncio.run(story()) == ["another device", "after 'left'"]


def test_a_call_that_waits_for_an_earlier_one_ends_in_time_too(slow: Slow) -> None:
    async def story() -> None:
        calls = BoundedCalls(0.05)
        await given_up(calls, slow)
        for _ in range(2):
            with pytest.raises(HostUnresponsive, match="reading a"):
                await calls.run(["a"], lambda _: None)

    asyncio.run(story())

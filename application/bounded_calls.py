"""Blocking calls about devices: each ends in time for its caller, even if it never ends."""

import asyncio
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from math import inf
from time import monotonic
from typing import Any, Final, TypeVar

from domain.errors import HostUnresponsive

TIME_LIMIT: Final = 10.0
"""Seconds. The kubelet admits one pod at a time and sets no deadline for Allocate: a call that hangs stops the node."""
_THREADS: Final = 64

Result = TypeVar("Result")


class BoundedCalls:
    """Runs them on threads of its own, with a time limit.

    A read that hangs in the kernel cannot be interrupted and keeps its thread while it hangs. So a device whose last
    call still hangs is refused at once: a pod that is tried again and again must not use up the threads, nor make each
    admission on the node wait. A call whose caller has gone is let end before there is another one about its devices.
    """

    def __init__(self, limit: float = TIME_LIMIT) -> None:
        self._limit = limit
        self._executor = ThreadPoolExecutor(_THREADS, "device call")
        self._last: dict[str, Future[Any]] = {}
        """The call about each device that may be on its way."""
        self._hanging: set[Future[Any]] = set()

    async def run(self, ids: Collection[str], call: Callable[["Deadline"], Result]) -> Result:
        """What a call about some devices gives.

        Raises:
            HostUnresponsive: if it does not end in time, or an earlier one about one of the devices has not ended yet.
        """
        self._last = {id_: earlier for id_, earlier in self._last.items() if not earlier.done()}
        self._hanging &= set(self._last.values())
        if stuck := sorted(id_ for id_ in ids if self._last.get(id_) in self._hanging):
            raise HostUnresponsive(f"reading {', '.join(stuck)}", self._limit)
        deadline = Deadline(ids, self._limit)
        try:
            async with asyncio.timeout(self._limit):
                while earlier := {self._last[id_] for id_ in ids if id_ in self._last and not self._last[id_].done()}:
                    ends = (asyncio.shield(asyncio.wrap_future(one)) for one in earlier)
                    await asyncio.gather(*ends, return_exceptions=True)
                future = self._executor.submit(call, deadline)
                self._last |= dict.fromkeys(ids, future)
                return await asyncio.wrap_future(future)
        except TimeoutError as timeout:
            self._hanging |= {self._last[id_] for id_ in ids if id_ in self._last}
            raise HostUnresponsive(f"reading {', '.join(sorted(ids))}", self._limit) from timeout
        except asyncio.CancelledError:
            deadline.expire()
            raise


class Deadline:
    """Tells a call that goes on after it was given up: from then on it must leave everything as it is."""

    def __init__(self, ids: Collection[str], limit: float) -> None:
        self._ids = ids
        self._limit = limit
        self._end = monotonic() + limit

    def expire(self) -> None:
        """Nobody waits for the call any more."""
        self._end = -inf

    def check(self) -> None:
        """Return if there is still time.

        Raises:
            HostUnresponsive: if there is not.
        """
        if monotonic() > self._end:
            raise HostUnresponsive(f"reading {', '.join(sorted(self._ids))}", self._limit)

"""From a new kubelet.sock to our Register."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Final
from unittest import mock

from tests.bench.live_bed import RESOURCE, LiveBed, live_bed
from tests.bench.live_figure import LiveFigure, percentiles
from tests.fakes.kubelet.front_door import FrontDoor

_VFS: Final = 64
_TARGET: Final = 20.0
_DOWN: Final = (0.0, 0.05, 0.3, 1.0)
_WITHIN: Final = 20.0


async def measure(rounds: int) -> AsyncIterator[LiveFigure]:
    async with live_bed(_VFS, "classic") as bed:
        with _listening() as times:
            took = [await _restart(bed, _DOWN[number % len(_DOWN)], times) for number in range(rounds)]
    for figure in percentiles("kubelet.sock listens: Register", took, None, _TARGET):
        yield figure


async def _restart(bed: LiveBed, down: float, times: list[float]) -> float:
    before = len(bed.kubelet.calls_of("Register"))
    times.clear()
    await bed.kubelet.restart(down_s=down)
    await bed.kubelet.wait_registered(RESOURCE, _WITHIN)
    call = bed.kubelet.calls_of("Register")[before]
    await asyncio.sleep(0.1)
    return (call.at - times[0]) * 1000


@contextmanager
def _listening() -> Iterator[list[float]]:
    """When the doors of a kubelet began to listen; the first one is that of kubelet.sock."""
    times: list[float] = []
    opened = FrontDoor.open

    async def noted(door: FrontDoor, accept_delay: float = 0.0) -> None:
        await opened(door, accept_delay)
        times.append(time.monotonic())

    with mock.patch.object(FrontDoor, "open", noted):
        yield times

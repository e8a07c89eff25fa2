"""A look at a host on which nothing has changed."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Final

from tests.bench.live_bed import RESOURCE, LiveBed, live_bed
from tests.bench.live_cpu import cpu_seconds
from tests.bench.live_figure import LiveFigure

_HOSTS: Final = {64: None, 1024: 100.0}
_REST: Final = {64: 0.5, 1024: 2.0}


async def measure(rounds: int) -> AsyncIterator[LiveFigure]:
    """The CPU time of one look, which is its duration on a machine that has nothing else to do."""
    for vfs, target in _HOSTS.items():
        async with live_bed(vfs) as bed:
            await _look(bed)
            messages, before = len(bed.kubelet.messages(RESOURCE)), cpu_seconds(bed.pid)
            began = time.monotonic()
            for _ in range(rounds):
                await _look(bed)
            used, took = cpu_seconds(bed.pid) - before, time.monotonic() - began
            before = cpu_seconds(bed.pid)
            await asyncio.sleep(took)  # what goes on besides
            idle = cpu_seconds(bed.pid) - before
            sent = len(bed.kubelet.messages(RESOURCE)) - messages
        yield LiveFigure(f"look without a change, {vfs} VFs: CPU", "ms", (used - idle) * 1000 / rounds, target, rounds)
        yield LiveFigure(f"look without a change, {vfs} VFs: messages", "", sent, 1, rounds)


async def _look(bed: LiveBed) -> None:
    """Routes are written anew as they are: a reason to look, and no change."""
    bed.host.uses.write_routes()
    await asyncio.sleep(_REST[bed.vfs])

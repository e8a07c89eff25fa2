"""A daemon that has nothing to do, with all its timers on."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from tests.bench.live_bed import live_bed
from tests.bench.live_cpu import cpu_seconds, switches
from tests.bench.live_figure import LiveFigure

_TARGETS: Final = {16: 1.0, 64: None, 1024: None}
_SETTLED_AFTER: Final = 6.0
"""Seconds; after five the garbage of the start is put away."""
_HOUR: Final = 3600.0


async def measure(idle: float) -> AsyncIterator[LiveFigure]:
    for vfs, target in _TARGETS.items():
        async with live_bed(vfs) as bed:
            await asyncio.sleep(_SETTLED_AFTER)
            cpu, woken = cpu_seconds(bed.pid), switches(bed.pid)
            await asyncio.sleep(idle)
            cpu, woken = cpu_seconds(bed.pid) - cpu, switches(bed.pid) - woken
        yield LiveFigure(f"idle with timers, {vfs} VFs: CPU in an hour", "s", cpu * _HOUR / idle, target)
        yield LiveFigure(f"idle with timers, {vfs} VFs: wake-ups a second", "", woken / idle)

"""What a daemon has after many restarts of the kubelet that it had not after a few."""

from collections.abc import AsyncIterator
from typing import Final

from tests.bench.live_figure import LiveFigure
from tests.model.setup import WAYS
from tests.soak.restarts import restart_often

_MOST_MEGABYTES: Final = 2.0
_ANY: Final = 1.0


async def measure(times: int) -> AsyncIterator[LiveFigure]:
    for way in WAYS:
        growth = await restart_often(way, times)
        rss, files = growth.after.rss - growth.before.rss, growth.after.files - growth.before.files
        yield LiveFigure(f"kubelet restarts, {way}: RSS grows by", "MB", rss, _MOST_MEGABYTES, times)
        yield LiveFigure(f"kubelet restarts, {way}: open files more", "", files, _ANY, times)

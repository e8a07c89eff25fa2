"""What a daemon costs that has nothing to do."""

import asyncio
import time
from collections.abc import Iterator
from typing import Final

from tests.bench.bed import bed
from tests.bench.daemon import Program, running
from tests.bench.figure import Figure
from tests.bench.lists import first_lists
from tests.bench.usage import cpu_seconds, wake_ups

SECTION: Final = "idle"
_SETTLED_AFTER: Final = 2.0


def measure(program: Program, idle: float) -> Iterator[Figure]:
    with bed(16) as node, running(program, node) as process:
        asyncio.run(first_lists(node.sockets, node.pools))
        time.sleep(_SETTLED_AFTER)
        before = cpu_seconds(process), wake_ups(process)
        time.sleep(idle)
        after = cpu_seconds(process), wake_ups(process)
    yield Figure(SECTION, "CPU in a minute", "s", [(after[0] - before[0]) * 60 / idle])
    yield Figure(SECTION, "wake-ups a second", "", [(after[1] - before[1]) / idle])

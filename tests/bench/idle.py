"""What a daemon costs that has nothing to do."""

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.bed import bed
from tests.bench.daemon import Program, running
from tests.bench.figure import Figure
from tests.bench.lists import first_lists

SECTION: Final = "idle"
_SETTLED_AFTER: Final = 2.0
_USER_TIME: Final = 11
"""Place of utime after the command in /proc/PID/stat; stime follows (proc(5))."""


def measure(program: Program, idle: float) -> Iterator[Figure]:
    with bed(16) as node, running(program, node) as process:
        asyncio.run(first_lists(node.sockets, node.pools))
        time.sleep(_SETTLED_AFTER)
        before = _cpu_seconds(process), _switches(process)
        time.sleep(idle)
        after = _cpu_seconds(process), _switches(process)
    yield Figure(SECTION, "CPU in a minute", "s", [(after[0] - before[0]) * 60 / idle])
    yield Figure(SECTION, "wake-ups a second", "", [(after[1] - before[1]) / idle])


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[_USER_TIME : _USER_TIME + 2])) / os.sysconf("SC_CLK_TCK")


def _switches(process: int) -> int:
    """Voluntary context switches of all threads: each is one wake-up."""
    threads = Path(f"/proc/{process}/task").iterdir()
    lines = [line for thread in threads for line in (thread / "status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))

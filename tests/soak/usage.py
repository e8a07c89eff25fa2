"""What a process uses, from /proc."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_USER_TIME: Final = 11
"""Place of utime after the command in /proc/PID/stat; stime follows (proc(5))."""


@dataclass(frozen=True, slots=True)
class Usage:
    rss: float
    """MB, as the next."""
    anonymous: float
    files: int
    threads: int
    cpu: float
    """Seconds since the start of the process."""


def usage(process: int) -> Usage:
    status = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
    times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return Usage(
        rss=int(status["VmRSS"].split()[0]) / 1024,
        anonymous=int(status["RssAnon"].split()[0]) / 1024,
        files=open_files(process),
        threads=int(status["Threads"]),
        cpu=sum(map(int, times[_USER_TIME : _USER_TIME + 2])) / os.sysconf("SC_CLK_TCK"),
    )


def open_files(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/fd"))  # noqa: PTH208 - names only

"""What a process uses of the machine, from /proc/PID (proc(5))."""

import os
from pathlib import Path
from typing import Final

_USER_TIME: Final = 11
"""Place of utime after the command in stat; stime follows."""


def cpu_seconds(process: int) -> float:
    """User and system time of all its threads so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[_USER_TIME : _USER_TIME + 2])) / os.sysconf("SC_CLK_TCK")


def wake_ups(process: int) -> int:
    """Voluntary context switches of the threads that it has now: each was one wake-up."""
    threads = Path(f"/proc/{process}/task").iterdir()
    lines = [line for thread in threads for line in (thread / "status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


def megabytes(process: int, kind: str) -> float:
    """Memory by its name in status, where it is in kB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{kind}:")) / 1024

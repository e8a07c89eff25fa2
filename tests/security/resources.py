"""What a process has of what must not grow (proc(5))."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Resources:
    """Memory in kB."""

    resident: int
    peak: int
    files: int
    threads: int


def resources(pid: int) -> Resources:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    status = dict(line.split(":", 1) for line in lines)
    resident, peak = (int(status[key].split()[0]) for key in ("VmRSS", "VmHWM"))
    return Resources(resident, peak, len(os.listdir(f"/proc/{pid}/fd")), int(status["Threads"]))  # noqa: PTH208


def forget_peak(pid: int) -> None:
    """From now on the peak is the highest since now."""
    Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")

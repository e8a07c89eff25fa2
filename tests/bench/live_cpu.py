"""CPU time of a process to the nanosecond, where the scheduler tells it."""

from pathlib import Path


def cpu_seconds(process: int) -> float:
    """All threads that live; one that ended takes its time with it."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def switches(process: int) -> int:
    """Voluntary context switches of all threads: each is one wake-up."""
    statuses = [(task / "status").read_text() for task in Path(f"/proc/{process}/task").iterdir()]
    lines = [line for status in statuses for line in status.splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))

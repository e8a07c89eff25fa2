"""System calls for each PCI function more: reading alone (`sriovdp explain`), and a whole first start."""

import asyncio
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.bench.bed import SHAPES, Bed, bed
from tests.bench.daemon import Program, running
from tests.bench.figure import Figure
from tests.bench.lists import first_lists

SECTION: Final = "syscalls"
_SMALL: Final = 256
_LARGE: Final = 1024
_SUMMARY_WITHIN: Final = 10.0
Run = Callable[[Program, Bed, Sequence[str]], None]


def measure(program: Program, *, quick: bool) -> Iterator[Figure]:
    if shutil.which("strace") is None:
        print("system calls are not counted: there is no strace here")
        return
    runs: dict[str, Run] = {"read, per function": _explain, "first start, per function": _start}
    counts: dict[tuple[str, int], int] = {}
    for vfs in (_SMALL, _LARGE):
        with bed(vfs) as node:
            for name, run in runs.items():
                node.clear()
                counts[name, vfs] = _count(program, node, run)
    more = _functions(_LARGE) - _functions(_SMALL)
    for name in runs:
        yield Figure(SECTION, name, "calls", [(counts[name, _LARGE] - counts[name, _SMALL]) / more])


def _functions(vfs: int) -> int:
    """VFs, their PFs, and a root port for each PF."""
    return vfs + 2 * SHAPES[vfs][0]


def _count(program: Program, node: Bed, run: Run) -> int:
    summary = node.directory / "strace"
    summary.unlink(missing_ok=True)
    # With -D strace is no parent of the daemon, which so gets our SIGTERM itself.
    run(program, node, ("strace", "-D", "-f", "-c", "-o", str(summary)))
    return _total(summary)


def _total(summary: Path) -> int:
    """The number of calls in strace's last line, `100.00 0.123 5 4711 12 total`, written after the daemon's end."""
    end = time.monotonic() + _SUMMARY_WITHIN
    lines: list[str] = []
    while time.monotonic() < end:
        lines = summary.read_text().splitlines()
        if lines and lines[-1].endswith("total"):
            return int(lines[-1].split()[3])
        time.sleep(0.05)
    raise RuntimeError(f"strace wrote no summary: {lines[-5:]}")


def _explain(program: Program, node: Bed, wrapper: Sequence[str]) -> None:
    command = program.command("cli.py", "explain", f"--config-file={node.config}", f"--root={node.host}")
    subprocess.run([*wrapper, *command], check=True, stdout=subprocess.DEVNULL, env=program.environment)


def _start(program: Program, node: Bed, wrapper: Sequence[str]) -> None:
    with running(program, node, wrapper):
        asyncio.run(first_lists(node.sockets, node.pools))

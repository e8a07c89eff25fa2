"""The daemon as a process of its own, started as a container starts it."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

REPOSITORY: Final = Path(__file__).parents[2]
ENTRY_POINT: Final = REPOSITORY / "entrypoints" / "daemon.py"


class DaemonProcess:
    """A running daemon; its log can be read while it runs."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self.process = process
        self._log = log

    @property
    def text(self) -> str:
        return self._log.read_text(encoding="utf-8")

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines() if line.startswith("{")]

    def told(self, event: str) -> list[dict[str, Any]]:
        return [e for e in self.events if e["event"] == event]

    async def until_told(self, event: str, count: int = 1, within: float = 60.0) -> None:
        deadline = time.monotonic() + within
        while len(self.told(event)) < count:
            if self.process.returncode is not None or time.monotonic() > deadline:
                raise AssertionError(f"no {event!r} {count} times, exit {self.process.returncode}:\n{self.text}")
            await asyncio.sleep(0.02)

    async def until_minds(self, number: signal.Signals, within: float = 60.0) -> None:
        """Return when it has a handler of its own for a signal that would end it before."""
        deadline = time.monotonic() + within
        while not _caught(self.process.pid) >> number - 1 & 1:
            if time.monotonic() > deadline:
                raise AssertionError(f"no handler for {number.name}:\n{self.text}")
            await asyncio.sleep(0.02)

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, float]:
        """Exit code and seconds from the signal to the end."""
        began = time.monotonic()
        self.process.send_signal(number)
        code = await asyncio.wait_for(self.process.wait(), 60)
        return code, time.monotonic() - began


def _caught(pid: int) -> int:
    """The signals that a process catches, a bit for each (proc(5))."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    (mask,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return int(mask, 16)


@asynccontextmanager
async def daemon(
    directory: Path,
    *flags: str,
    before: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[DaemonProcess]:
    """A daemon with these flags, and ``before`` its command line; killed at the end if it still runs."""
    log = directory / "log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *before,
            sys.executable,
            str(ENTRY_POINT),
            *flags,
            stdout=output,
            stderr=output,
            env={**os.environ, "PYTHONWARNINGS": "error", **(environment or {})},
        )
    try:
        yield DaemonProcess(process, log)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

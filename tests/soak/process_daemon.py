"""The daemon as a process of its own, under the model's control."""

import asyncio
import json
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import Any, Final

from tests.daemon.process import DaemonProcess, daemon
from tests.model.places import Places
from tests.soak.usage import Usage, open_files, usage

_LOOK_AGAIN: Final = 0.25
_STARTED_LOOK: Final = 0.01
_UNEXPECTED: Final = ("task ended", "allocate failed", "reconcile failed")
_LISTENERS: Final = ("kubelet listens", "kubelet stopped listening")
_RECENT: Final = 66.0
"""Seconds for which a device that was handed out counts as held, and some for the next look."""
_PATIENCE: Final = 40.0
"""Seconds; ten of them is how long a kubelet that does not listen is waited for."""
_NOTICED_WITHIN: Final = 2.0
"""Seconds; it looks at its configuration more often."""


class ProcessDaemon:
    def __init__(self, places: Places, config_file: Path, environment: Mapping[str, str] | None = None) -> None:
        self.patience = _PATIENCE
        self.lingering = _RECENT
        self.starts = 0
        self._flags = (
            f"--config-file={config_file}",
            f"--root={places.host}",
            f"--kubelet-dir={places.kubelet}",
            f"--devinfo-dir={places.devinfo}",
            f"--registration={places.way}",
            f"--health-check-interval={_LOOK_AGAIN:g}",
        )
        self._environment = environment
        self._directory = places.directory
        self._numbers = count(1)
        self._process: DaemonProcess | None = None
        self._stack = AsyncExitStack()
        self._endings: list[str] = []
        self._cpu_before = 0.0

    @property
    def running(self) -> bool:
        return self._process is not None

    @property
    def pid(self) -> int | None:
        return self._process.process.pid if self._process else None

    @property
    def cpu(self) -> float:
        """Seconds that all processes so far have used."""
        return self._cpu_before + (usage(self.pid).cpu if self.pid else 0.0)

    def usage(self) -> Usage | None:
        return usage(self.pid) if self.pid else None

    async def start(self) -> None:
        self.starts += 1
        log_directory = self._directory / f"run{next(self._numbers)}"
        log_directory.mkdir()
        self._process = await self._stack.enter_async_context(
            daemon(log_directory, *self._flags, environment=self._environment)
        )
        await self._started(self._process)

    async def terminate(self) -> None:
        code = await self._stop(signal.SIGTERM)
        if code not in {0, None}:
            self._endings.append(f"exit code {code} after SIGTERM")

    async def kill(self) -> None:
        await self._stop(signal.SIGKILL)

    async def noticed(self) -> None:
        await asyncio.sleep(_NOTICED_WITHIN)

    def reload(self) -> None:
        if self._process is not None:
            self._process.process.send_signal(signal.SIGHUP)

    def age(self) -> None:
        """Only time itself can do that here."""

    def faults(self) -> Sequence[str]:
        found = list(self._endings)
        if self._process is not None:
            lines = self._process.text.splitlines()
            found += [line for line in lines if line.startswith("Traceback") or _event(line) in _UNEXPECTED]
            if self._process.process.returncode is not None:
                found.append(f"the daemon ended with exit code {self._process.process.returncode}")
        return found

    def told(self, event: str) -> list[dict[str, Any]]:
        """What the log of this process has of an event."""
        return self._process.told(event) if self._process else []

    def send(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.process.send_signal(number)

    def census(self) -> dict[str, int]:
        return {"fds": open_files(self.pid)} if self.pid else {}

    def log(self) -> Sequence[str]:
        """Without the comings and goings of listeners, of which looks at lists make many."""
        lines = self._process.text.splitlines() if self._process else []
        return [line for line in lines if _event(line) not in _LISTENERS][-40:]

    async def _started(self, process: DaemonProcess) -> None:
        """Return when it has read its configuration: nobody can tell before what an edit is to it.

        The first line of its log comes after that, whatever the configuration is.
        """
        deadline = time.monotonic() + self.patience
        while not process.events and process.process.returncode is None and time.monotonic() < deadline:
            await asyncio.sleep(_STARTED_LOOK)
        if process.process.returncode is None:
            await process.until_minds(signal.SIGTERM, self.patience)

    async def _stop(self, number: signal.Signals) -> int | None:
        if self._process is None:
            return None
        self._endings += self.faults()
        process, self._process = self._process, None
        if process.process.returncode is None:
            self._cpu_before += usage(process.process.pid).cpu
            await process.stop(number)
        await self._stack.aclose()
        return process.process.returncode


def _event(line: str) -> str:
    try:
        return str(json.loads(line)["event"])
    except (ValueError, TypeError, KeyError):
        return ""

"""A wall clock of the daemon's own, which can be set while it runs: libfaketime (Debian's package of that name)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

_LIBRARIES: Final = ("usr/lib/*/faketime/libfaketimeMT.so.1", "usr/lib64/faketime/libfaketimeMT.so.1")
SEEN_WITHIN: Final = 1.0
"""Seconds after which every thread goes by the time that was set."""


def library() -> Path | None:
    """Where libfaketime is, if it is installed."""
    return next((path for pattern in _LIBRARIES for path in Path("/").glob(pattern)), None)


class Clock:
    """Monotonic clocks and the times of files stay what they are, as they do when a node's clock is set."""

    def __init__(self, directory: Path) -> None:
        self._ahead = directory / "clock"
        self._library = library()
        self.set(0)

    @property
    def settable(self) -> bool:
        return self._library is not None

    @property
    def environment(self) -> Mapping[str, str]:
        """What a process that goes by this clock is started with."""
        if self._library is None:
            return {}
        return {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._ahead),
            "FAKETIME_CACHE_DURATION": f"{SEEN_WITHIN:g}",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def set(self, ahead: int) -> None:
        """Let the wall clock be so many seconds ahead of the machine's, or behind it."""
        written = self._ahead.with_suffix(".new")
        written.write_text(f"{ahead:+}\n", encoding="ascii")
        written.replace(self._ahead)

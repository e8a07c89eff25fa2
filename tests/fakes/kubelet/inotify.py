"""inotify for an event loop, no more than the plugin watcher needs."""

import asyncio
import ctypes
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

IN_MOVED_TO = 0x80
IN_CREATE = 0x100
IN_DELETE = 0x200
_EVENT = struct.Struct("iIII")  # wd, mask, cookie, length of the name; inotify(7)
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Event:
    path: Path
    mask: int

    @property
    def appeared(self) -> bool:
        return bool(self.mask & (IN_CREATE | IN_MOVED_TO))


class Inotify:
    def __init__(self, on_event: Callable[[Event], None]) -> None:
        self._on_event = on_event
        self._directories: dict[int, Path] = {}
        self._fd = _checked(_libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._fd, self._read)

    def watch(self, directory: Path) -> None:
        mask = IN_CREATE | IN_MOVED_TO | IN_DELETE
        wd = _checked(_libc.inotify_add_watch(self._fd, os.fsencode(directory), mask))
        self._directories[wd] = directory

    def close(self) -> None:
        self._loop.remove_reader(self._fd)
        os.close(self._fd)

    def _read(self) -> None:
        data = os.read(self._fd, 1 << 16)
        offset = 0
        while offset < len(data):
            wd, mask, _, length = _EVENT.unpack_from(data, offset)
            offset += _EVENT.size
            name = os.fsdecode(data[offset : offset + length].rstrip(b"\0"))
            offset += length
            if name and wd in self._directories:
                self._on_event(Event(self._directories[wd] / name, mask))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result

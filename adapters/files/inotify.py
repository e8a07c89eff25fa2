"""inotify(7) by the C library's own functions: three calls and a file descriptor for the event loop."""

import asyncio
import ctypes
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

CLOSE_WRITE: Final = 0x00000008
MOVED_FROM: Final = 0x00000040
MOVED_TO: Final = 0x00000080
CREATE: Final = 0x00000100
DELETE: Final = 0x00000200
DELETE_SELF: Final = 0x00000400
MOVE_SELF: Final = 0x00000800
ONLYDIR: Final = 0x01000000

ENTRIES: Final = CREATE | DELETE | MOVED_FROM | MOVED_TO | DELETE_SELF | MOVE_SELF | ONLYDIR
"""What happens to the entries of a directory, or to itself."""

_ISDIR: Final = 0x40000000
_IGNORED: Final = 0x00008000
_READ_AT_ONCE: Final = 65536
_EVENT: Final = struct.Struct("iIII")
"""struct inotify_event: watch, mask, cookie and length of the name after it."""
_libc = ctypes.CDLL(None, use_errno=True)


class DirectoryWatch:
    """Calls back when anything happens in directories.

    What happened is not told, since whoever is called looks again; only which directories were made in those watched.
    """

    def __init__(self, mask: int, changed: Callable[[Sequence[str]], None]) -> None:
        self._mask = mask
        self._changed = changed
        self._file = -1
        self._watched: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def start(self) -> None:
        """Begin, on the running event loop.

        Raises:
            OSError: if the kernel has no inotify or this user too many of them.
        """
        self._file = _checked(_libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC), "inotify_init1")
        asyncio.get_running_loop().add_reader(self._file, self._read)

    def add(self, directories: Iterable[str]) -> None:
        """Watch these directories too. One that cannot be watched, or is not there, is left out.

        A directory that was removed and made again is another one: watching it again is no error.
        """
        for directory in directories:
            # For a directory that is watched the kernel answers the number that it has already.
            number = _libc.inotify_add_watch(self._file, os.fsencode(directory), self._mask)
            if number >= 0:
                self._watched[directory] = number
                self._names[number] = directory

    def watch(self, directories: Iterable[str]) -> None:
        """Watch these directories and no others."""
        wanted = dict.fromkeys(directories)
        for gone in self._watched.keys() - wanted.keys():
            number = self._watched.pop(gone)
            self._names.pop(number, None)
            _libc.inotify_rm_watch(self._file, number)
        self.add(wanted)

    def stop(self) -> None:
        """End; also if it never began."""
        if self._file >= 0:
            asyncio.get_running_loop().remove_reader(self._file)
            os.close(self._file)
            self._file = -1
            self._watched.clear()
            self._names.clear()

    def _read(self) -> None:
        made: list[str] = []
        try:
            while events := os.read(self._file, _READ_AT_ONCE):
                made.extend(self._directories_made(events))
        except BlockingIOError:
            self._changed(made)

    def _directories_made(self, events: bytes) -> Iterator[str]:
        offset = 0
        while offset < len(events):
            number, mask, _, length = _EVENT.unpack_from(events, offset)
            name = events[offset + _EVENT.size : offset + _EVENT.size + length].rstrip(b"\0")
            offset += _EVENT.size + length
            if mask & _IGNORED:
                # The directory is gone, and with it the watch.
                directory = self._names.pop(number, None)
                if directory is not None and self._watched.get(directory) == number:
                    del self._watched[directory]
            elif mask & _ISDIR and mask & (CREATE | MOVED_TO) and number in self._names:
                yield f"{self._names[number]}/{os.fsdecode(name)}"


def _checked(result: int, call: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return result

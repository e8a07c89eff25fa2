"""inotify(7) by the C library's own functions: three calls and a file descriptor for the event loop."""

import asyncio
import ctypes
import os
from collections.abc import Callable, Iterable
from typing import Final

MODIFY: Final = 0x00000002
ATTRIB: Final = 0x00000004
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

_READ_AT_ONCE: Final = 65536
_libc = ctypes.CDLL(None, use_errno=True)


class DirectoryWatch:
    """Calls back when anything happens in directories. What happened is not told: whoever is called looks again."""

    def __init__(self, mask: int, changed: Callable[[], None]) -> None:
        self._mask = mask
        self._changed = changed
        self._file = -1
        self._watched: dict[str, int] = {}

    def start(self) -> None:
        """Begin, on the running event loop.

        Raises:
            OSError: if the kernel has no inotify or this user too many of them.
        """
        self._file = _checked(_libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC), "inotify_init1")
        asyncio.get_running_loop().add_reader(self._file, self._read)

    def watch(self, directories: Iterable[str]) -> None:
        """Watch these directories and no others. One that cannot be watched, or is not there, is left out.

        A directory that was removed and made again is another one: watching it again is no error.
        """
        wanted = dict.fromkeys(directories)
        for gone in self._watched.keys() - wanted.keys():
            _libc.inotify_rm_watch(self._file, self._watched.pop(gone))
        for directory in wanted:
            # For a directory that is watched the kernel answers the number that it has already.
            number = _libc.inotify_add_watch(self._file, os.fsencode(directory), self._mask)
            if number >= 0:
                self._watched[directory] = number
            else:
                self._watched.pop(directory, None)

    def stop(self) -> None:
        """End; also if it never began."""
        if self._file >= 0:
            asyncio.get_running_loop().remove_reader(self._file)
            os.close(self._file)
            self._file = -1
            self._watched.clear()

    def _read(self) -> None:
        try:
            while os.read(self._file, _READ_AT_ONCE):
                pass
        except BlockingIOError:
            self._changed()


def _checked(result: int, call: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return result

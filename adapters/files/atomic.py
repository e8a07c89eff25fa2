"""Replacing a file as a whole: readers see the old or the new content, never a part."""

import os
import time
from contextlib import suppress
from itertools import count
from typing import Final

_MODE: Final = 0o644
_PIECE: Final = 64 << 10
"""Asking for more makes the allocator map and unmap memory for each file."""
_TEMPORARY: Final = ".tmp"
"""Readers of a directory go by endings: half a file must not have theirs."""
_PROCESS: Final = os.urandom(4).hex()
"""Marks this process's temporary files: process ids are the same in every container."""
_NUMBERS: Final = count()
"""Tells them apart: two threads may write the same file, and one that could not be removed must not be in the way."""
_ABANDONED_AFTER: Final = 60.0


def replace_file(path: str, content: bytes) -> None:
    """Write a temporary file beside it and rename; readable by all, whatever the umask says.

    Raises:
        OSError: with the path, if it cannot be written; nothing is left of the attempt.
    """
    temporary = f"{path.rpartition('/')[0]}/.{_PROCESS}-{next(_NUMBERS)}{_TEMPORARY}"
    try:
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error
    try:
        written = os.write(file, content)
        while written < len(content):
            written += os.write(file, content[written:])
        os.fchmod(file, _MODE)
        os.rename(temporary, path)  # noqa: PTH104 - a Path per file costs more than the call
    except OSError as error:
        _unlink(temporary)
        raise OSError(error.errno, error.strerror, path) from error
    finally:
        os.close(file)


def remove_abandoned(directory: str) -> None:
    """Remove temporary files of processes that were killed while they wrote: none takes a minute."""
    oldest = time.time() - _ABANDONED_AFTER
    for name in os.listdir(directory):  # noqa: PTH208 - names only
        path = f"{directory}/{name}"
        if name.startswith(".") and name.endswith(_TEMPORARY):
            with suppress(FileNotFoundError):
                if os.lstat(path).st_mtime < oldest:
                    os.unlink(path)  # noqa: PTH108 - beside its twin below


def read_file(path: str) -> bytes:
    """The content of a regular file, not of what a link at its place points to.

    Raises:
        OSError: if it is not there, is a link or cannot be read.
    """
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        content = os.read(file, _PIECE)
        while piece := os.read(file, _PIECE) if len(content) >= _PIECE else b"":
            content += piece
        return content
    finally:
        os.close(file)


def _unlink(path: str) -> None:
    with suppress(OSError):  # what made this necessary is what is told
        os.unlink(path)  # noqa: PTH108 - a Path per file costs more than the call

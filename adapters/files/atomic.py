"""Replacing a file as a whole: readers see the old or the new content, never a part."""

import os
import time
from contextlib import suppress
from typing import Final

_MODE: Final = 0o644
_PIECE: Final = 64 << 10
"""Asking for more makes the allocator map and unmap memory for each file."""
_TEMPORARY: Final = ".tmp"
"""Readers of a directory go by endings: half a file must not have theirs."""
_PROCESS: Final = os.urandom(4).hex()
"""Marks this process's temporary files: process ids are the same in every container."""
_ABANDONED_AFTER: Final = 60.0


def replace_file(path: str, content: bytes) -> None:
    """Write a temporary file beside it and rename; readable by all, whatever the umask says.

    Raises:
        OSError: if it cannot be written; nothing is left of the attempt.
    """
    directory, _, name = path.rpartition("/")
    temporary = f"{directory}/.{_PROCESS}-{name}{_TEMPORARY}"
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        written = os.write(file, content)
        while written < len(content):
            written += os.write(file, content[written:])
        os.fchmod(file, _MODE)
        os.rename(temporary, path)  # noqa: PTH104 - a Path per file costs more than the call
    except OSError:
        _unlink(temporary)
        raise
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
    with suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108 - a Path per file costs more than the call

"""Where simulated hosts are laid out: in memory when the machine has room for that.

A large host is a hundred thousand small files; on a disk making them can take a minute.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_MEMORY: Final = "/dev/shm"  # noqa: S108 - every Linux has it; names below it are made by tempfile


@contextmanager
def temporary_directory() -> Iterator[Path]:
    """A directory of a short name (sockets below it must stay under 108 bytes), gone at the end."""
    place = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="g", dir=place) as name:
        yield Path(name)

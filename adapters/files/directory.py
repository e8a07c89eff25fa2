"""A directory that several programs share and some spoil.

The network-attachment library of Multus and of the Go plugin makes these directories with mode 0000. A root process
without capabilities cannot enter them, but it may mend the mode of what it owns.
"""

import os
import stat
from pathlib import Path
from typing import Final

from domain.errors import FilesUnwritable

_MODE: Final = 0o755


def prepare(directory: Path) -> None:
    """Make the directory and its parents where they are missing, and mend modes of 0000.

    Raises:
        FilesUnwritable: naming the directory, what is wrong and the command that helps.
    """
    for part in (*reversed(directory.parents), directory):
        try:
            _prepare_one(part)
        except OSError as error:
            raise FilesUnwritable(part, str(error.strerror), f"try mkdir -p {part}; chmod 0755 {part}") from error
        if not part.is_dir():
            raise FilesUnwritable(part, "this is a file, where a directory is needed", f"try mv {part} {part}.old")
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        mode = stat.S_IMODE(directory.stat().st_mode)
        why = f"mode {mode:04o} and owner {directory.stat().st_uid} keep uid {os.geteuid()} from writing"
        raise FilesUnwritable(directory, why, f"try chmod 0755 {directory}, or mount it writable")


def _prepare_one(directory: Path) -> None:
    try:
        found = directory.stat()
    except FileNotFoundError:
        directory.mkdir(exist_ok=True)
        directory.chmod(_MODE)  # whatever the umask says
        return
    if stat.S_IMODE(found.st_mode) & stat.S_IRWXU == 0 and found.st_uid == os.geteuid():
        directory.chmod(_MODE)

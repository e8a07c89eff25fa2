"""The file system that device information is on: one of its own, to be full or read-only."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_OWN_MOUNTS: Final = "SRIOVDP_CHAOS_OWN_MOUNTS"
_SIZE: Final = "256k"
_PIECE: Final = bytes(4096)


def enter_own_mounts(arguments: Sequence[str]) -> str:
    """Become this program again in a mount namespace of its own. Returns only if it is there, or why it cannot be."""
    if _OWN_MOUNTS in os.environ:
        return ""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return "only root with unshare(1) can mount"
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        return tried.stderr.strip()
    command = ["unshare", "--mount", "--propagation", "private", sys.executable, "-m", "tests.chaos", *arguments]
    os.execvpe(command[0], command, {**os.environ, _OWN_MOUNTS: "1"})  # noqa: S606 - it becomes itself
    return "unreachable"


class Disk:
    """Mounted at a directory; what is mounted in the namespace is gone with the last process in it."""

    def __init__(self, directory: Path, *, mountable: bool) -> None:
        self.directory = directory
        self.mounted = mountable
        directory.mkdir()
        if mountable:
            _mount("-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(directory))

    def fill(self) -> None:
        with (self._filler).open("wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(_PIECE)
            except OSError:
                return

    def empty(self) -> None:
        self._filler.unlink(missing_ok=True)

    def set_writable(self, writable: bool) -> None:
        _mount("-o", f"remount,{'rw' if writable else 'ro'}", str(self.directory))

    def close(self) -> None:
        if self.mounted:
            subprocess.run(["umount", "--lazy", str(self.directory)], check=True)

    @property
    def _filler(self) -> Path:
        return self.directory / ".filler"


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)

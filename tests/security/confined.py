"""A daemon with as little as a container gives it: a read-only root, chosen mounts, uid 0 without a capability.

A mount namespace of its own stands for the container's; the program that enters it installs the filter of system
calls (refused.py) last, and becomes the daemon.
"""

import os
import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import run
from typing import Final

from tests.daemon.process import REPOSITORY, DaemonProcess, daemon

_TOOLS: Final = ("unshare", "setpriv", "chroot", "mount")
_ENTER: Final = """
set -eu
root=$1; shift
mount --bind / "$root"
mount -o remount,bind,ro "$root"
for place in /proc /dev /sys; do mount --rbind $place "$root$place"; done
mount -o remount,bind,ro "$root/sys"
for place in /dev/shm /tmp; do mount -t tmpfs tmpfs "$root$place"; done
while [ "$1" != -- ]; do
  mkdir -p "$root$2"; mount --bind "$2" "$root$2"; mount -o remount,bind,$1 "$root$2"
  shift 2
done
for place in /dev/shm /tmp; do mount -o remount,bind,ro "$root$place"; done
shift
exec chroot "$root" setpriv --bounding-set=-all --inh-caps=-all --no-new-privs -- "$@"
"""


@dataclass(frozen=True, slots=True)
class Mount:
    """A directory that is in the container, at the path that it has outside."""

    directory: Path
    writable: bool = False

    @property
    def words(self) -> Sequence[str]:
        return ("rw" if self.writable else "ro", str(self.directory))


def missing() -> str:
    """Why this machine cannot confine a process; empty if it can."""
    if absent := [tool for tool in _TOOLS if shutil.which(tool) is None]:
        return f"{', '.join(absent)} not found"
    if os.geteuid() != 0:
        return "only root can make the mounts of a container"
    tried = run(["unshare", "--mount", "true"], capture_output=True, text=True, check=False)
    return tried.stderr.strip()


@asynccontextmanager
async def confined(directory: Path, mounts: Sequence[Mount], *flags: str, config: Path) -> AsyncIterator[DaemonProcess]:
    """The daemon, and nothing but these mounts and the code; its log goes to the directory."""
    root = directory / "root"
    root.mkdir()
    words = [word for mount in (Mount(REPOSITORY), Mount(config.parent), *mounts) for word in mount.words]
    filter_ = (sys.executable, "-m", "tests.security.refused", "--")
    enter = ("unshare", "--mount", "--propagation", "private", "sh", "-c", _ENTER, "sh", str(root), *words, "--")
    environment = {"PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
    before = (*enter, *filter_)
    async with daemon(directory, f"--config-file={config}", *flags, before=before, environment=environment) as process:
        yield process

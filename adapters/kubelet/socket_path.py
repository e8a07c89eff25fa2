"""Where the sockets of pools are and how they are called."""

import hashlib
import os
from pathlib import Path
from typing import Final

from domain.resource_name import ResourceName

_LONGEST_PATH: Final = 107
"""Bytes that sockaddr_un holds besides its final NUL (unix(7))."""
_SUFFIX: Final = ".sock"


def socket_name(resource: ResourceName, directory: Path, host_directory: Path, instance: str = "") -> str:
    """`<prefix>_<name>.sock`, as the Go plugin's; with an instance mark where every server needs a path of its own.

    A name too long for a socket in the directory, here or as the kubelet sees it, is cut and made unique by a hash.
    """
    mark = f"-{instance}" if instance else ""
    stem = f"{resource.prefix}_{resource.name}"
    room = _LONGEST_PATH - max(len(os.fsencode(d)) for d in (directory, host_directory)) - len(f"/{mark}{_SUFFIX}")
    if len(stem) > room:
        digest = hashlib.sha256(stem.encode()).hexdigest()[:12]
        stem = f"{stem[: room - len(digest) - 1]}~{digest}"
    return f"{stem}{mark}{_SUFFIX}"


def identity(path: Path) -> tuple[int, int, int] | None:
    """What tells one socket at a path from a later one; None if there is nothing."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_ctime_ns

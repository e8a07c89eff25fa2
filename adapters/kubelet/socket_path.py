"""Where the sockets of pools are and how they are called."""

import hashlib
import os
import re
import time
from pathlib import Path
from typing import Final

from domain.errors import InvalidResourceName
from domain.resource_name import ResourceName

_LONGEST_PATH: Final = 107
"""Bytes that sockaddr_un holds besides its final NUL (unix(7))."""
_SUFFIX: Final = ".sock"
_MARK: Final = re.compile(r"-[0-9a-f]{13}")
"""Microseconds since the epoch: what tells the servers of one pool from each other."""
_MARK_LENGTH: Final = 14
_HIDDEN: Final = re.compile(r"\.[0-9a-f]{12}\.s")


def socket_name(resource: ResourceName, directory: Path, host_directory: Path, *, marked: bool = False) -> str:
    """`<prefix>_<name>.sock`, as the Go plugin's; with a mark where every server needs a path of its own.

    A name too long for a socket in the directory, here or as the kubelet sees it, is cut and made unique by a hash.
    """
    mark = f"-{time.time_ns() // 1000:013x}" if marked else ""
    return f"{_stem(resource, directory, host_directory, len(mark))}{mark}{_SUFFIX}"


def is_of_pool(name: str, resource: ResourceName, directory: Path, host_directory: Path) -> bool:
    """Whether a server of the pool, with a mark or without, gives its socket this name."""
    if name == socket_name(resource, directory, host_directory):
        return True
    stem = _stem(resource, directory, host_directory, _MARK_LENGTH)
    rest = name.removesuffix(_SUFFIX).removeprefix(stem)
    return name == f"{stem}{rest}{_SUFFIX}" and _MARK.fullmatch(rest) is not None


def resource_of(name: str) -> ResourceName | None:
    """The pool whose server gives its socket this name, unless that is a cut one; None if no pool's does."""
    stem = name.removesuffix(_SUFFIX)
    if stem == name or is_hidden(name):
        return None
    prefix, _, pool = stem.partition("_")
    marked = _MARK.fullmatch(pool[-_MARK_LENGTH:]) is not None
    try:
        return ResourceName(prefix, pool[:-_MARK_LENGTH] if marked else pool)
    except InvalidResourceName:
        return None


def has_prefix(name: str, prefix: str) -> bool:
    """Whether a pool with this resource prefix gives its socket such a name."""
    return name.startswith(f"{prefix}_") and name.endswith(_SUFFIX)


def hidden_name() -> str:
    """A new name for a socket that the kubelet is not to see yet."""
    return f".{os.urandom(6).hex()}.s"


def is_hidden(name: str) -> bool:
    """Whether it is such a name."""
    return _HIDDEN.fullmatch(name) is not None


def identity(path: Path) -> tuple[int, int, int] | None:
    """What tells one socket at a path from a later one; None if there is nothing.

    The inode's number may be given again at once. The time is that of bind(2): another owner, mode, label or name leave
    it, and only they change the ctime.
    """
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _stem(resource: ResourceName, directory: Path, host_directory: Path, mark: int) -> str:
    stem = f"{resource.prefix}_{resource.name}"
    room = _LONGEST_PATH - max(len(os.fsencode(d)) for d in (directory, host_directory)) - len(f"/{_SUFFIX}") - mark
    if len(stem) <= room:
        return stem
    digest = hashlib.sha256(stem.encode()).hexdigest()[:12]
    return f"{stem[: room - len(digest) - 1]}~{digest}"

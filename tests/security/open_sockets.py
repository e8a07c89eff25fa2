"""The sockets that a process has open, of whatever family (proc(5), `/proc/net`)."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_LISTENS: Final = 1 << 16
"""__SO_ACCEPTCON, as /proc/net/unix shows it in its flags."""


def sockets(pid: int) -> Counter[str]:
    """How many of each family; unix sockets that listen are a family of their own."""
    families: Counter[str] = Counter()
    own = set(_inodes(pid))
    for table in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6", "packet", "netlink"):
        families[table] += sum(_last_number(line, own) for line in _rows(pid, table))
    for row in _rows(pid, "unix"):
        fields = row.split()
        if int(fields[6]) in own:
            families["unix, listening" if int(fields[3], 16) & _LISTENS else "unix"] += 1
    return +families


def listening(pid: int) -> list[Path]:
    """The paths that unix sockets of the process listen at; as they were bound."""
    own = set(_inodes(pid))
    rows = [row.split(maxsplit=7) for row in _rows(pid, "unix")]
    return [Path(f[7]) for f in rows if len(f) > 7 and int(f[6]) in own and int(f[3], 16) & _LISTENS]


def _inodes(pid: int) -> Iterator[int]:
    for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - names only
        try:
            target = os.readlink(f"/proc/{pid}/fd/{name}")  # noqa: PTH115 - no path of a file
        except FileNotFoundError:
            continue
        if match := re.fullmatch(r"socket:\[(\d+)\]", target):
            yield int(match[1])


def _rows(pid: int, table: str) -> list[str]:
    path = Path(f"/proc/{pid}/net/{table}")
    return path.read_text(encoding="utf-8").splitlines()[1:] if path.exists() else []


def _last_number(row: str, inodes: set[int]) -> bool:
    """Whether a row is of one of the sockets; each table has the inode in another column."""
    return any(field.isdecimal() and int(field) in inodes for field in row.split()[7:])

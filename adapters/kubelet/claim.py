"""Taking a socket path without robbing its owner.

grpc binds by unlinking whatever is at the path, and unlinks the path again when it stops, be it somebody else's by
then.
So a server binds a hidden name, which the kubelet's watcher ignores, and a hard link makes it appear under its real
one: link(2) never replaces what is there.
"""

import asyncio
import os
import socket
import stat
import struct
from pathlib import Path
from typing import Final

from domain.errors import SriovError

_CONNECT_LIMIT: Final = 1.0
_PEER: Final = struct.Struct("3i")
"""struct ucred: pid, uid, gid (unix(7), SO_PEERCRED)."""


class SocketTaken(SriovError):
    """Something else is at the path of a pool's socket."""

    def __init__(self, path: Path, by: str, *, live: bool) -> None:
        super().__init__(f"{path} belongs to {by}: not taken over, tried again")
        self.path = path
        self.live = live
        """Whether somebody serves it."""


async def claim(bound: Path, path: Path) -> None:
    """Give the socket bound at one path its real name; a dead socket there is removed.

    Raises:
        SocketTaken: if a live server, or something that is no socket, is there.
    """
    while True:
        try:
            os.link(bound, path)
        except FileExistsError:
            await remove_dead(path)
        else:
            bound.unlink()
            return


async def remove_dead(path: Path) -> None:
    """Make a socket's path free, if nobody serves it.

    Raises:
        SocketTaken: if a live server, or something that is no socket, is there.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise SocketTaken(path, "no socket: remove it", live=False)
    owner = await live_owner(path)
    if owner is not None:
        raise SocketTaken(path, owner, live=True)
    path.unlink(missing_ok=True)


async def live_owner(path: Path) -> str | None:
    """Who serves a socket; None if nobody does."""
    try:
        async with asyncio.timeout(_CONNECT_LIMIT):
            _, writer = await asyncio.open_unix_connection(path)
    except (ConnectionRefusedError, FileNotFoundError):
        return None
    except (OSError, TimeoutError) as error:
        return f"a process that does not answer ({type(error).__name__})"
    try:
        peer: socket.socket = writer.get_extra_info("socket")
        pid, _, _ = _PEER.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    finally:
        writer.close()
    return f"process {pid} ({_command(pid)})" if pid else "a process outside of this container"


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return "unknown"

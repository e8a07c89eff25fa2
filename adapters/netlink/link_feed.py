"""Links and routes as a source of changes (port ChangeFeed): a pulled cable and a moved route send no uevent."""

import asyncio
import socket
from collections.abc import Callable
from typing import Final

from application.ports.change_feed import Change

# include/uapi/linux/rtnetlink.h: RTMGRP_LINK, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_ROUTE
_GROUPS: Final = 0x1 | 0x40 | 0x400
_READ_AT_ONCE: Final = 65536


class LinkFeed:
    """Wakes for each message of the groups; the messages are not parsed."""

    name = "links and routes"

    def __init__(self) -> None:
        self._socket: socket.socket | None = None

    def start(self, wake: Callable[[Change], None]) -> None:
        listening = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.NETLINK_ROUTE)
        try:
            listening.bind((0, _GROUPS))
        except OSError:
            listening.close()
            raise
        self._socket = listening
        asyncio.get_running_loop().add_reader(listening, self._drain, wake)

    def stop(self) -> None:
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
            self._socket = None

    def _drain(self, wake: Callable[[Change], None]) -> None:
        try:
            while self._socket is not None and self._socket.recv(_READ_AT_ONCE):
                pass
        except OSError:
            pass  # nothing left, or ENOBUFS: messages were lost, which is a change too
        wake(Change.HOST)

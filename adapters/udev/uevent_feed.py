"""Uevents as a source of changes (port ChangeFeed).

From the kernel's own multicast group, which needs no udevd. What an event says is not used: sysfs is read again.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from application.ports.change_feed import Change

_SUBSYSTEMS: Final = (
    "auxiliary",
    "infiniband",
    "infiniband_mad",
    "infiniband_verbs",
    "misc",
    "net",
    "pci",
    "uio",
    "vdpa",
    "vfio",
    "vfio-dev",
)
_BUFFER: Final = 4 << 20
"""Bytes: 256 VFs that appear at once send some 3,000 events."""


class UeventFeed:
    """Wakes for each event of a subsystem that devices of pools are made of."""

    name = "kernel uevents"

    def __init__(self) -> None:
        self._monitor: Any = None

    def start(self, wake: Callable[[Change], None]) -> None:
        try:
            import pyudev  # noqa: PLC0415 - loads libudev, which a start has no need to wait for

            monitor = pyudev.Monitor.from_netlink(pyudev.Context(), source="kernel")
        except ImportError as error:
            raise OSError(str(error)) from error
        for subsystem in _SUBSYSTEMS:
            monitor.filter_by(subsystem)
        with suppress(OSError):  # only CAP_NET_ADMIN goes beyond net.core.rmem_max; what is lost wakes too
            monitor.set_receive_buffer_size(_BUFFER)
        monitor.start()
        self._monitor = monitor
        asyncio.get_running_loop().add_reader(monitor.fileno(), self._drain, wake)

    def stop(self) -> None:
        if self._monitor is not None:
            asyncio.get_running_loop().remove_reader(self._monitor.fileno())
            self._monitor = None

    def _drain(self, wake: Callable[[Change], None]) -> None:
        try:
            while self._monitor is not None and self._monitor.poll(timeout=0) is not None:
                pass
        except OSError:
            # ENOBUFS: events were lost, which is a change too. libudev leaves the error on the socket, where it would
            # be met again and again.
            with socket.socket(fileno=os.dup(self._monitor.fileno())) as lost:
                lost.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        wake(Change.HOST)

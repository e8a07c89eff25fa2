"""The kernel's part in a rebind: files of a simulated sysfs take what is written and do nothing.

What the kernel does within write(2) is done here before the writer gets through: the file that it writes last,
drivers_probe, is a named pipe, and opening that waits until it is opened here.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from tests.hosts.laid import LaidHost

Bind = Callable[[str, str], bool]
"""Whether a driver takes the function of an address; if not, the one before takes it again."""


class Kernel:
    """Lets functions of a host be bound anew; `asked` is every driver that was asked to take one, in order."""

    def __init__(self, laid: LaidHost, *drivers: str, takes: Bind = lambda bdf, driver: True) -> None:
        self.asked: list[tuple[str, str]] = []
        self._laid = laid
        self._takes = takes
        self._bus = laid.root / "sys/bus/pci"
        self._probe = self._bus / "drivers_probe"
        os.mkfifo(self._probe)
        for driver in drivers:
            laid.tree.text(f"sys/bus/pci/drivers/{driver}/unbind", "")

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            for bdf in list(self._laid.description.functions):
                driver = self._override(bdf)
                if driver and driver != self._laid.function(bdf).driver:
                    await self._rebind(bdf, driver)
            await asyncio.sleep(0.01)

    async def _rebind(self, bdf: str, driver: str) -> None:
        """An override that is another driver's: whoever wrote it has unbound the function before and probes next."""
        self.asked.append((bdf, driver))
        self._laid.rebind(bdf, driver if self._takes(bdf, driver) else self._laid.function(bdf).driver)
        for unbind in self._bus.glob("drivers/*/unbind"):
            unbind.write_bytes(b"")
        reading = os.open(self._probe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            while not (probed := _read(reading)):
                await asyncio.sleep(0.002)
        finally:
            os.close(reading)
        assert probed.decode() == bdf

    def _override(self, bdf: str) -> str:
        """The driver that is wanted for a function, once it was unbound; the old text is written over, not cut."""
        function = self._laid.function(bdf)
        if function.driver and not _asks(self._bus / "drivers" / function.driver / "unbind", bdf):
            return ""
        text = (self._bus / "devices" / bdf / "driver_override").read_text(encoding="utf-8")
        names = [path.parent.name for path in self._bus.glob("drivers/*/unbind")]
        return next((name for name in names if text.startswith(name)), "")


def _asks(unbind: Path, bdf: str) -> bool:
    return unbind.exists() and unbind.read_text(encoding="utf-8").startswith(bdf)


def _read(file: int) -> bytes:
    try:
        return os.read(file, 64)
    except BlockingIOError:
        return b""

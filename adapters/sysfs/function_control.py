"""Resetting and rebinding PCI functions by sysfs (port FunctionControl; Documentation/ABI/testing/sysfs-bus-pci)."""

import errno
import os
from pathlib import Path
from typing import Final

from domain.errors import FunctionRefused
from domain.host import PciFunction

_BUS: Final = "sys/bus/pci"


class SysfsFunctionControl:
    """Writes below a root; needs /sys to be writable, which an unprivileged container's is not."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def reset(self, function: PciFunction) -> None:
        if function.interfaces_away:
            raise FunctionRefused(str(function.address), "reset", "its interface is in another network namespace")
        error = self._group_error(function)
        if error is not None and error.errno == errno.EBUSY:
            raise FunctionRefused(str(function.address), "reset", f"somebody has {error.filename} open")
        self._write(function, "reset", self._directory(function) / "reset", "1")

    def bind(self, function: PciFunction, driver: str) -> None:
        self._refuse_open_group(function)
        before = function.driver
        override = self._directory(function) / "driver_override"
        # Once it is unbound there must be a way to bind it again.
        for step, path in (("driver_override", override), ("drivers_probe", self._probes)):
            self._require_writable(function, step, path)
        overridden = _override(override)
        try:
            self._unbind(function, before)
            self._write(function, "driver_override", override, driver)
            self._probe(function)
            self._verify(function, driver)
        except FunctionRefused:
            self._back(function, before, override, overridden)
            raise
        # Without an override the kernel chooses by its ids again, as before the pod that changed it.
        self._write(function, "driver_override", override, "\n")

    def may_be_open(self, function: PciFunction) -> bool:
        return not _on_vfio(function) or function.iommu_group is None or self._group_error(function) is not None

    def _back(self, function: PciFunction, driver: str | None, override: Path, overridden: str) -> None:
        bound = self._bound(function)
        if bound != driver:
            self._unbind(function, bound)
            if driver is not None:
                self._write(function, "roll back", override, driver)
                self._probe(function)
                self._verify(function, driver)
        if _override(override) != overridden:
            self._write(function, "roll back", override, overridden)

    def _unbind(self, function: PciFunction, driver: str | None) -> None:
        if driver is not None:
            path = self._root / _BUS / "drivers" / driver / "unbind"
            self._write(function, f"unbind {driver}", path, str(function.address))

    def _probe(self, function: PciFunction) -> None:
        self._write(function, "drivers_probe", self._probes, str(function.address))

    def _verify(self, function: PciFunction, driver: str) -> None:
        bound = self._bound(function)
        if bound != driver:
            raise FunctionRefused(
                str(function.address), f"bind {driver}", f"bound to {bound or 'no driver'} afterwards"
            )

    def _bound(self, function: PciFunction) -> str | None:
        try:
            return (self._directory(function) / "driver").readlink().name
        except OSError:
            return None

    def _refuse_open_group(self, function: PciFunction) -> None:
        error = self._group_error(function)
        if error is not None:
            why = "somebody has it open" if error.errno == errno.EBUSY else f"cannot tell whether it is open: {error}"
            raise FunctionRefused(str(function.address), f"vfio group {error.filename}", why) from error

    def _group_error(self, function: PciFunction) -> OSError | None:
        """Why its vfio group does not open; None if it does, or if there is none.

        A group opens for one program at a time (drivers/vfio/group.c): busy means that somebody has it.
        """
        if function.iommu_group is None or not _on_vfio(function):
            return None
        name = f"noiommu-{function.iommu_group}" if function.noiommu else function.iommu_group
        path = self._root / "dev" / "vfio" / name
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC))
        except OSError as error:
            return error
        return None

    def _require_writable(self, function: PciFunction, step: str, path: Path) -> None:
        if not os.access(path, os.W_OK):
            why = f"{path}: {'not writable' if path.exists() else 'no such file'}"
            raise FunctionRefused(str(function.address), step, why)

    def _write(self, function: PciFunction, step: str, path: Path, value: str) -> None:
        try:
            file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.write(file, value.encode())
            finally:
                os.close(file)
        except OSError as error:
            raise FunctionRefused(str(function.address), step, f"{path}: {error.strerror}") from error

    @property
    def _probes(self) -> Path:
        return self._root / _BUS / "drivers_probe"

    def _directory(self, function: PciFunction) -> Path:
        return self._root / _BUS / "devices" / str(function.address)


def _override(path: Path) -> str:
    """What is in driver_override, to be written there again; a line's end where it is empty."""
    try:
        return path.read_text(encoding="utf-8").strip().replace("(null)", "") or "\n"
    except OSError:
        return "\n"


def _on_vfio(function: PciFunction) -> bool:
    return function.driver == "vfio-pci" or function.vfio_device is not None

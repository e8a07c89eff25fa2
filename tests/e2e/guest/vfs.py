"""Creates VFs and moves them between drivers, as an administrator does."""

import subprocess
from pathlib import Path

from tests.e2e.guest import kernel

PCI = Path("/sys/bus/pci")


def create(pf: str, count: int) -> list[str]:
    """Give *pf* exactly *count* VFs; the kernel wants none in between."""
    number = PCI / "devices" / pf / "sriov_numvfs"
    for wanted in (0, count):
        if int(number.read_text()) != wanted:
            number.write_text(f"{wanted}\n")
    settle()
    return list(kernel.function(pf).vfs)


def remove_all() -> None:
    for pf in kernel.pfs():
        create(pf, 0)


def drive(driver: str | None, *vfs: str) -> None:
    """Bind *vfs* to *driver* by driver_override, whatever drives them now; None leaves them without one."""
    changing = [vf for vf in vfs if kernel.function(vf).driver != driver]
    for vf in changing:
        _bind(vf, driver)
    if changing:
        settle()
    assert {kernel.function(vf).driver for vf in vfs} <= {driver}


def _bind(vf: str, driver: str | None) -> None:
    device = PCI / "devices" / vf
    if (device / "driver").exists():
        (device / "driver" / "unbind").write_text(f"{vf}\n")
    if driver is not None:
        (device / "driver_override").write_text(f"{driver}\n")
        (PCI / "drivers_probe").write_text(f"{vf}\n")


def settle() -> None:
    """Wait until udev has named the netdevs and made the nodes."""
    subprocess.run(["udevadm", "settle", "--timeout=60"], check=True)

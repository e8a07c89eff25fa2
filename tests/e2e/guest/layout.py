"""The machine that most tests run on: two PFs with VFs on different drivers, two PFs without."""

from tests.e2e.guest import kernel, vfs

PREFIX = "intel.com"
POOLS = {"kern": {"drivers": ["igbvf"]}, "dpdk": {"drivers": ["vfio-pci"]}, "whole": {"drivers": ["igb"]}}


def lay_out() -> None:
    """Of two PFs' seven VFs, leave four on igbvf, put two on vfio-pci and take one's driver away.

    Nothing happens if it is so already: VFs are slow to make and to remove.
    """
    first, second = kernel.pfs()[:2]
    wanted: dict[str, list[str | None]] = {
        first: ["igbvf", "vfio-pci", None, "igbvf"],
        second: ["igbvf", "vfio-pci", "igbvf"],
    }
    for pf, drivers in wanted.items():
        if [kernel.function(vf).driver for vf in kernel.function(pf).vfs] == drivers:
            continue
        for vf, driver in zip(vfs.create(pf, len(drivers)), drivers, strict=True):
            vfs.drive(driver, vf)


def expected() -> dict[str, set[str]]:
    """Which devices each resource has to offer, by what the kernel says now."""
    return {
        f"{PREFIX}/kern": kernel.vfs_on("igbvf"),
        f"{PREFIX}/dpdk": kernel.vfs_on("vfio-pci"),
        f"{PREFIX}/whole": {pf for pf in kernel.pfs() if not kernel.function(pf).vfs},
    }

"""What the guest's kernel says about its PCI functions, read anew at every call and without the product's code."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

DEVICES = Path("/sys/bus/pci/devices")
VDPA = Path("/sys/bus/vdpa/devices")


@dataclass(frozen=True)
class Function:
    """One PCI function as its directory in sysfs shows it."""

    address: str
    driver: str | None
    iommu_group: str | None
    pf: str | None
    """Address of the PF if this is a VF."""
    vfs: tuple[str, ...]
    netdevs: tuple[str, ...]


def function(address: str) -> Function:
    directory = DEVICES / address
    return Function(
        address=address,
        driver=_target(directory / "driver"),
        iommu_group=_target(directory / "iommu_group"),
        pf=_target(directory / "physfn"),
        vfs=tuple(sorted(link.readlink().name for link in directory.glob("virtfn*"))),
        netdevs=tuple(sorted(netdev.name for netdev in directory.glob("net/*"))),
    )


def functions() -> list[Function]:
    return [function(directory.name) for directory in sorted(DEVICES.iterdir())]


def pfs() -> list[str]:
    return sorted(attribute.parent.name for attribute in DEVICES.glob("*/sriov_totalvfs"))


def vfs_on(driver: str | None) -> set[str]:
    """The VFs that *driver* drives, None: those without one."""
    return {one.address for one in functions() if one.pf and one.driver == driver}


def netdev(address: str) -> str:
    (name,) = function(address).netdevs
    return name


def index(vf: str) -> int:
    """N of its PF's link virtfnN to it."""
    pf = DEVICES / str(function(vf).pf)
    (link,) = (link for link in pf.glob("virtfn*") if link.readlink().name == vf)
    return int(link.name.removeprefix("virtfn"))


def vdpa_driver(device: str) -> str | None:
    return _target(VDPA / device / "driver")


def device_number(path: str) -> tuple[int, int]:
    """Major and minor of the character device at *path*."""
    status = Path(path).stat()
    assert stat.S_ISCHR(status.st_mode), f"{path} is no character device"
    return os.major(status.st_rdev), os.minor(status.st_rdev)


def behind(path: str) -> Path:
    """The directory in sysfs of what the character device at *path* leads to."""
    major, minor = device_number(path)
    return Path(f"/sys/dev/char/{major}:{minor}").resolve(strict=True)


def _target(link: Path) -> str | None:
    return link.readlink().name if link.is_symlink() else None

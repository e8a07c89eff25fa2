"""Does what DPDK does with the nodes it was given: open the group, attach it, open the VF's device."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

CONTAINER = "/dev/vfio/vfio"

# <linux/vfio.h>: _IO(';', 100 + n)
_SET_IOMMU = 0x3B66
_GROUP_SET_CONTAINER = 0x3B68
_GROUP_GET_DEVICE_FD = 0x3B6A
TYPE1_IOMMU = 1
NOIOMMU_IOMMU = 8


def open_device(container_node: str, group_node: str, address: str, iommu: int = TYPE1_IOMMU) -> None:
    """Raise OSError unless the two nodes give access to the function at *address*, with that type of IOMMU."""
    with _opened(container_node) as container, _opened(group_node) as group:
        fcntl.ioctl(group, _GROUP_SET_CONTAINER, container.to_bytes(4, "little"))
        fcntl.ioctl(container, _SET_IOMMU, iommu)
        # Only with a mutable argument does Python return what the kernel returned.
        os.close(fcntl.ioctl(group, _GROUP_GET_DEVICE_FD, bytearray(address.encode() + b"\0")))


@contextmanager
def _opened(node: str) -> Iterator[int]:
    number = os.open(node, os.O_RDWR)
    try:
        yield number
    finally:
        os.close(number)

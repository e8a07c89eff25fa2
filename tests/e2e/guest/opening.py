"""Opens device nodes as the program in a container does, and asks each what it is."""

import fcntl
import os
import stat
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.guest import kernel, vfio

# <linux/vhost.h>, <linux/if_tun.h>: requests that only read, by the first letters of nodes.
_VHOST_VDPA_GET_DEVICE_ID = 0x8004AF70
_QUESTIONS = {
    "/dev/vhost-vdpa-": _VHOST_VDPA_GET_DEVICE_ID,
    "/dev/vhost-net": 0x8008AF00,  # VHOST_GET_FEATURES
    "/dev/net/tun": 0x800454CF,  # TUNGETFEATURES
}
_VIRTIO_NET = 1  # <linux/virtio_ids.h>


def check(nodes: Collection[tuple[str, str]], address: str) -> None:
    """Raise unless all *nodes* (paths on the host and in the container) are of the device at *address* and open."""
    for host, _ in nodes:
        sysfs = kernel.behind(host)
        assert sysfs.name == Path(host).name
        assert address in sysfs.parts or "virtual" in sysfs.parts, f"{host} leads to {sysfs}"
    with _container(nodes) as root:
        for _, path in nodes:
            _ask(root, path)
        for host, path in nodes:
            if host.startswith("/dev/vfio/") and host != vfio.CONTAINER:
                iommu = vfio.NOIOMMU_IOMMU if "noiommu" in host else vfio.TYPE1_IOMMU
                vfio.open_device(root + vfio.CONTAINER, root + path, address, iommu)


def _ask(root: str, path: str) -> None:
    node = os.open(root + path, os.O_RDWR)
    try:
        for start, request in _QUESTIONS.items():
            if path.startswith(start):
                answer = bytearray(8)
                fcntl.ioctl(node, request, answer)
                number = int.from_bytes(answer, "little")
                assert number == _VIRTIO_NET if request == _VHOST_VDPA_GET_DEVICE_ID else number
    finally:
        os.close(node)


@contextmanager
def _container(nodes: Collection[tuple[str, str]]) -> Iterator[str]:
    """A directory with the nodes under their names in the container, made as a runtime makes them."""
    with tempfile.TemporaryDirectory(dir="/run") as root:
        for host, path in nodes:
            node = Path(root + path)
            node.parent.mkdir(parents=True, exist_ok=True)
            os.mknod(node, stat.S_IFCHR | 0o600, os.makedev(*kernel.device_number(host)))
        yield root

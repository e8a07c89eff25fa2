"""Device nodes that facilities may need, and whether the host has them.

A container that does not mount the host's /dev has one of its own: a privileged one a copy of what there was at its
start. There sysfs tells what nodes the kernel has; where /dev is the host's, it is the nodes themselves.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from adapters.sysfs.tree import Tree
from domain.host import AuxiliaryDevice, PciFunction, RdmaDevice, VdpaDevice

_SHARED: Final = ("iommu", "infiniband/rdma_cm", "net/tun", "vfio/vfio", "vhost-net")
_DIRECTORIES: Final = ("infiniband", "vfio", "vfio/devices")
_OF_FUNCTIONS: Final = ("uio", "vhost-vdpa-")

# Directory and first letters of nodes to the class that lists them; names in class misc are those of drivers.
_CLASSES: Final = (
    ("vfio/devices/", "", "vfio-dev"),
    ("vfio/", "vfio", "misc"),
    ("vfio/", "", "vfio"),
    ("infiniband/", "uverbs", "infiniband_verbs"),
    ("infiniband/", "umad", "infiniband_mad"),
    ("infiniband/", "issm", "infiniband_mad"),
    ("infiniband/", "", "misc"),
    ("net/", "", "misc"),
    ("", "uio", "uio"),
    ("", "", "misc"),
)


class Nodes:
    """Which nodes there are, below a root."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._foreign = _is_foreign(tree.text("proc/self/mountinfo") or "")

    def read(self, functions: Iterable[PciFunction], subfunctions: Iterable[AuxiliaryDevice]) -> frozenset[str]:
        """The nodes that exist, read by directory; where /dev is foreign, also those that devices point to."""
        tree = self._tree
        found = {node for node in _SHARED if self._exists(node)}
        if self._foreign:
            candidates = {node for function in functions for node in nodes_of_function(function)}
            candidates.update(n for s in subfunctions for n in nodes_of_facilities(s.rdma, s.vdpa))
            found.update(node for node in candidates if self._exists(node))
        else:
            found.update(name for name in tree.names("dev") if name.startswith(_OF_FUNCTIONS))
            for directory in _DIRECTORIES:
                found.update(f"{directory}/{name}" for name in tree.names(f"dev/{directory}"))
        return frozenset(f"/dev/{node}" for node in found)

    def again(self, known: frozenset[str], candidates: Iterable[str]) -> frozenset[str]:
        """The known nodes with the shared ones and these candidates looked at again."""
        nodes = set(known)
        for node in (*_SHARED, *candidates):
            (nodes.add if self._exists(node) else nodes.discard)(f"/dev/{node}")
        return frozenset(nodes)

    def _exists(self, node: str) -> bool:
        if not self._foreign:
            return self._tree.exists(f"dev/{node}")
        # A copy of /dev may still hold nodes that are gone; those that load their module when opened are always there.
        return self._kernel_has(node) or (node in _SHARED and self._tree.exists(f"dev/{node}"))

    def _kernel_has(self, node: str) -> bool:
        if node.startswith("vhost-vdpa-"):
            return True  # its name was read from sysfs; it is in no class
        for directory, start, class_name in _CLASSES:
            if node.startswith(directory + start):
                return self._tree.exists(f"sys/class/{class_name}/{node.removeprefix(directory)}")
        return False


def _is_foreign(mountinfo: str) -> bool:
    """Whether /dev is there and not the kernel's own devtmpfs (proc(5): after the `-` comes the type)."""
    types = {}
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        columns = left.split()
        if right and len(columns) > 4:  # noqa: PLR2004 - the fifth column is the mount point
            types[columns[4]] = right.split()[0]
    return types.get("/dev", "devtmpfs") != "devtmpfs"


def nodes_of_function(function: PciFunction) -> Iterator[str]:
    """The nodes that the facts of a function point to."""
    if function.iommu_group is not None:
        yield f"vfio/noiommu-{function.iommu_group}" if function.noiommu else f"vfio/{function.iommu_group}"
    if function.vfio_device is not None:
        yield f"vfio/devices/{function.vfio_device}"
    if function.uio is not None:
        yield function.uio
    yield from nodes_of_facilities(function.rdma, function.vdpa)


def nodes_of_facilities(rdma: Iterable[RdmaDevice], vdpa: Iterable[VdpaDevice]) -> Iterator[str]:
    """The nodes of RDMA and vDPA devices."""
    for device in rdma:
        yield from (f"infiniband/{name}" for name in (*device.uverbs, *device.umad, *device.issm))
    yield from (device.vhost_node for device in vdpa if device.vhost_node)

"""One PCI function, from its directory."""

from collections.abc import Sequence
from typing import Final

from adapters.sysfs.interfaces import interfaces_of
from adapters.sysfs.rdma import rdma_devices
from adapters.sysfs.subfunctions import auxiliary_names
from adapters.sysfs.tree import Tree
from adapters.sysfs.uevent import parse_uevent
from adapters.sysfs.vdpa import vdpa_devices
from adapters.sysfs.vf_count import VfCounts
from adapters.sysfs.vf_places import DEVICES, VfPlace, link_address
from domain.host import PciFunction
from domain.pci import PciAddress

_NUMA_NODES: Final = 1 << 31
"""The message to the kubelet can hold more, but no kernel has."""


class Unreadable(Exception):
    """A function that tells too little to be offered; the message says what is missing."""


def read_function(
    tree: Tree, vf_counts: VfCounts, address: PciAddress, place: VfPlace | None, on_vdpa_bus: frozenset[str]
) -> tuple[PciFunction, Sequence[str]]:
    """A function and the names in its directory; with its place if a PF was found to link to it.

    Raises:
        Unreadable: if the function is gone or does not say what it is.
    """
    path = f"{DEVICES}/{address}"
    names = tree.names(path)
    if not names:
        raise Unreadable("gone from the host")
    try:
        uevent = parse_uevent(tree.read(f"{path}/uevent"))
    except OSError as error:
        if "uevent" in names:
            raise Unreadable(f"uevent: {error.strerror}") from error
        uevent = {}
    vendor, _, device = uevent.get("PCI_ID", "").lower().partition(":")
    is_vf = place is not None or "physfn" in names
    driver = uevent.get("DRIVER") or (tree.target_name(f"{path}/driver") if "driver" in names else None)
    interfaces = interfaces_of(tree, path, names, ports=not is_vf)
    function = PciFunction(
        address=address,
        class_code=_class_code(tree, path, uevent.get("PCI_CLASS")),
        vendor=vendor or _id(tree, f"{path}/vendor"),
        device=device or _id(tree, f"{path}/device"),
        driver=driver,
        numa_node=_numa_node(tree, path),
        acpi_index=tree.text(f"{path}/acpi_index") if "acpi_index" in names else None,
        iommu_group=_iommu_group(tree, path) if "iommu_group" in names else None,
        physfn=(place.pf if place else link_address(tree, f"{path}/physfn")) if is_vf else None,
        vf_index=place.index if place else None,
        vf_count=0 if is_vf else vf_counts.count(path, names),
        noiommu=(driver == "vfio-pci" or "vfio-dev" in names) and _is_noiommu(tree, path),
        interfaces=interfaces,
        interfaces_away="net" in names and not interfaces,
        rdma=rdma_devices(tree, path, names),
        vdpa=vdpa_devices(tree, path, names, on_vdpa_bus),
        uio=_first(tree, f"{path}/uio", "uio") if "uio" in names else None,
        vfio_device=_first(tree, f"{path}/vfio-dev", "vfio") if "vfio-dev" in names else None,
        auxiliary=auxiliary_names(names),
    )
    return function, names


def is_as_known(tree: Tree, known: PciFunction) -> bool:
    """Whether a VF on vfio-pci is what it was; on a kernel driver more can change, and a PF may get VFs."""
    path = f"{DEVICES}/{known.address}"
    if known.physfn is None or known.driver != "vfio-pci" or _iommu_group(tree, path) != known.iommu_group:
        return False
    try:
        uevent = parse_uevent(tree.read(f"{path}/uevent"))
    except OSError:
        return False
    ids = f"{known.vendor}:{known.device}".upper()
    if uevent.get("DRIVER") != known.driver or uevent.get("PCI_ID") != ids:
        return False
    if link_address(tree, f"{path}/physfn") != known.physfn:
        return False
    return known.vfio_device is None or tree.exists(f"{path}/vfio-dev/{known.vfio_device}")


def _class_code(tree: Tree, path: str, of_uevent: str | None) -> int:
    try:
        return int(of_uevent, 16) if of_uevent else int(tree.read(f"{path}/class"), 16)
    except OSError as error:
        raise Unreadable(f"class: {error.strerror}") from error
    except ValueError as error:
        raise Unreadable(f"class: {error}") from error


def _id(tree: Tree, path: str) -> str:
    text = tree.text(path)
    if text is None:
        raise Unreadable(f"{path.rpartition('/')[2]}: cannot be read")
    return text.lower().removeprefix("0x")


def _iommu_group(tree: Tree, path: str) -> str | None:
    """Its number, as text. It becomes part of a path: anything else is no group."""
    name = tree.target_name(f"{path}/iommu_group") or ""
    return name if name.isascii() and name.isdecimal() else None


def _is_noiommu(tree: Tree, path: str) -> bool:
    """Whether the group is one of vfio's own (drivers/vfio/group.c), which exist only while vfio is bound."""
    return tree.text(f"{path}/iommu_group/name") == "vfio-noiommu"


def _first(tree: Tree, path: str, prefix: str) -> str | None:
    return next((name for name in sorted(tree.names(path)) if name.startswith(prefix)), None)


def _numa_node(tree: Tree, path: str) -> int | None:
    node = tree.number(f"{path}/numa_node")
    return node if node is not None and 0 <= node < _NUMA_NODES else None

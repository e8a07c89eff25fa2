"""Subfunctions below a PCI function (Documentation/driver-api/auxiliary_bus.rst)."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from adapters.sysfs.interfaces import interfaces_of
from adapters.sysfs.rdma import rdma_devices
from adapters.sysfs.tree import Tree
from adapters.sysfs.vdpa import vdpa_devices
from domain.host import AuxiliaryDevice
from domain.pci import PciAddress

_NAME: Final = re.compile(r"[A-Za-z][\w-]*\.[\w-]+\.\d+")
_SUBFUNCTION: Final = "sf"


def auxiliary_names(names: Sequence[str]) -> tuple[str, ...]:
    """The devices on the auxiliary bus among the names in a function's directory: module.kind.number."""
    return tuple(sorted(name for name in names if "." in name and _NAME.fullmatch(name)))


def subfunctions(
    tree: Tree, directory: str, parent: PciAddress, auxiliary: Sequence[str], on_vdpa_bus: frozenset[str]
) -> Iterator[AuxiliaryDevice]:
    """The subfunctions among the auxiliary devices below a function."""
    for name in auxiliary:
        if name.split(".")[1] == _SUBFUNCTION:
            yield read_subfunction(tree, f"{directory}/{name}", parent, on_vdpa_bus)


def read_subfunction(tree: Tree, path: str, parent: PciAddress, on_vdpa_bus: frozenset[str]) -> AuxiliaryDevice:
    """One subfunction, as far as its directory tells."""
    names = tree.names(path)
    interfaces = interfaces_of(tree, path, names, ports=False)
    return AuxiliaryDevice(
        name=path.rpartition("/")[2],
        parent=parent,
        driver=tree.target_name(f"{path}/driver") if "driver" in names else None,
        number=tree.number(f"{path}/sfnum") if "sfnum" in names else None,
        interfaces=interfaces,
        interfaces_away="net" in names and not interfaces,
        auxiliary=auxiliary_names(names),
        rdma=rdma_devices(tree, path, names),
        vdpa=vdpa_devices(tree, path, names, on_vdpa_bus),
    )

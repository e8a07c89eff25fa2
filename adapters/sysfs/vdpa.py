"""vDPA devices of a function or subfunction, each from its own directory."""

from collections.abc import Sequence
from typing import Final

from adapters.sysfs.tree import Tree
from domain.host import VdpaDevice

BUS: Final = "sys/bus/vdpa/devices"


def vdpa_devices(tree: Tree, directory: str, names: Sequence[str], on_bus: frozenset[str]) -> tuple[VdpaDevice, ...]:
    """The vDPA devices below a directory: those of the names in it that are on the vDPA bus."""
    if on_bus.isdisjoint(names):
        return ()
    return tuple(_vdpa_device(tree, f"{directory}/{name}", name) for name in sorted(on_bus.intersection(names)))


def _vdpa_device(tree: Tree, path: str, name: str) -> VdpaDevice:
    node = next((entry for entry in sorted(tree.names(path)) if entry.startswith("vhost-vdpa-")), None)
    return VdpaDevice(name, tree.target_name(f"{path}/driver"), node)

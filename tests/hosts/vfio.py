"""The device that vfio-pci makes, with its own node where the kernel has iommufd."""

from dataclasses import dataclass
from typing import Final

from tests.hosts.child import lay_class_device, remove_class_device
from tests.hosts.tree import Tree

_MAJOR: Final = 511


@dataclass(frozen=True, slots=True)
class VfioDevice:
    """``vfio-dev/vfio<number>``; *cdev* adds ``/dev/vfio/devices/vfio<number>``."""

    number: int
    cdev: bool = False

    def lay(self, tree: Tree, parent: str) -> None:
        path = lay_class_device(tree, parent, "vfio-dev", f"vfio{self.number}")
        if self.cdev:
            tree.text(f"{path}/dev", f"{_MAJOR}:{self.number}")
            tree.node(self._node)
            if not tree.exists("dev/iommu"):
                tree.node("dev/iommu")

    def remove(self, tree: Tree, parent: str) -> None:
        remove_class_device(tree, parent, "vfio-dev", f"vfio{self.number}")
        tree.delete(self._node)

    @property
    def _node(self) -> str:
        return f"dev/vfio/devices/vfio{self.number}"

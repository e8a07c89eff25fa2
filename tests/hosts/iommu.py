"""IOMMU groups and the nodes that vfio makes for them."""

from dataclasses import dataclass
from typing import Final

from tests.hosts.tree import Tree

VFIO: Final = "vfio-pci"


@dataclass(frozen=True, slots=True)
class IommuGroup:
    """The group of one function.

    Without an IOMMU (*noiommu*) vfio makes the group itself, and only while it drives the function.
    """

    number: int
    noiommu: bool = False

    def join(self, tree: Tree, device: str) -> None:
        group = f"sys/kernel/iommu_groups/{self.number}"
        if not tree.exists(group):
            tree.text(f"{group}/type", "unknown" if self.noiommu else "DMA-FQ")
            if self.noiommu:
                tree.text(f"{group}/name", "vfio-noiommu")
        tree.link(f"{group}/devices/{device.rpartition('/')[2]}", device)
        tree.link(f"{device}/iommu_group", group)

    def leave(self, tree: Tree, device: str) -> None:
        devices = f"sys/kernel/iommu_groups/{self.number}/devices"
        tree.delete(f"{device}/iommu_group")
        tree.delete(f"{devices}/{device.rpartition('/')[2]}")
        if not tree.names(devices):
            tree.delete(f"sys/kernel/iommu_groups/{self.number}")

    def bind(self, tree: Tree, device: str) -> None:
        """vfio-pci takes the function."""
        if self.noiommu:
            self.join(tree, device)
        for node in (self.node, "dev/vfio/vfio"):
            if not tree.exists(node):
                tree.node(node)

    def unbind(self, tree: Tree, device: str) -> None:
        tree.delete(self.node)
        if self.noiommu:
            self.leave(tree, device)

    @property
    def node(self) -> str:
        return f"dev/vfio/{'noiommu-' if self.noiommu else ''}{self.number}"

"""A PCI function in sysfs: its attributes, its driver and what that driver made."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.hosts.child import ChildDevice
from tests.hosts.ids import PciIds
from tests.hosts.iommu import VFIO, IommuGroup
from tests.hosts.netdev import Netdev
from tests.hosts.sriov import Sriov
from tests.hosts.tree import Tree

#: Drivers under which a network function has no netdev.
WITHOUT_NETDEV: Final = {VFIO, "igb_uio", "uio_pci_generic", "pci-pf-stub", "pci-stub"}


@dataclass(slots=True)
class Function:
    """One PCI function as it is now; *children* is what its present driver made.

    A VF has its PF as *physfn* and its number among the PF's VFs as *index*.
    """

    bdf: str
    ids: PciIds
    driver: str | None = None
    numa: int | None = 0
    iommu: IommuGroup | None = None
    acpi_index: int | None = None
    bridges: Sequence[str] = ()
    children: list[ChildDevice] = field(default_factory=list)
    sriov: Sriov | None = None
    physfn: "Function | None" = None
    index: int = 0
    vfs: dict[int, "Function"] = field(default_factory=dict)
    left_for_pod: list[ChildDevice] = field(default_factory=list)

    @property
    def path(self) -> str:
        """Below the root bus and the bridges on the way."""
        root = (*self.bridges, self.bdf)[0].rpartition(":")[0]
        return "/".join((f"sys/devices/pci{root}", *self.bridges, self.bdf))

    @property
    def netdevs(self) -> list[Netdev]:
        return [c for c in self.children if isinstance(c, Netdev)]

    def lay(self, tree: Tree) -> None:
        path = self.path
        for name, value in self._attributes().items():
            tree.text(f"{path}/{name}", value)
        tree.link(f"{path}/subsystem", "sys/bus/pci")
        if self.iommu and not self.iommu.noiommu:
            self.iommu.join(tree, path)
        if self.physfn:
            tree.link(f"{path}/physfn", self.physfn.path)
            tree.link(f"{self.physfn.path}/virtfn{self.index}", path)
        self.bind(tree)
        tree.link(f"sys/bus/pci/devices/{self.bdf}", path)

    def remove(self, tree: Tree) -> None:
        """Vanish, VFs first, as the kernel does."""
        for vf in list(self.vfs.values()):
            vf.remove(tree)
        tree.delete(f"sys/bus/pci/devices/{self.bdf}")
        self.unbind(tree)
        if self.iommu and tree.exists(f"{self.path}/iommu_group"):
            self.iommu.leave(tree, self.path)
        if self.physfn:
            tree.delete(f"{self.physfn.path}/virtfn{self.index}")
            del self.physfn.vfs[self.index]
        tree.delete(self.path)

    def bind(self, tree: Tree) -> None:
        """What there is with the present driver and not without."""
        self._lay_driver_facts(tree)
        if self.driver:
            driver = f"sys/bus/pci/drivers/{self.driver}"
            tree.link(f"{driver}/{self.bdf}", self.path)
            tree.link(f"{self.path}/driver", driver)
        if self.driver == VFIO and self.iommu:
            self.iommu.bind(tree, self.path)
        for child in self.children:
            child.lay(tree, self.path)

    def unbind(self, tree: Tree) -> None:
        """Undo `bind`; the function is without a driver and without children then."""
        for child in reversed(self.children):
            child.remove(tree, self.path)
        for subsystem in ("net", "infiniband", "infiniband_verbs", "infiniband_mad"):
            tree.delete(f"{self.path}/{subsystem}")
        if self.driver == VFIO and self.iommu:
            self.iommu.unbind(tree, self.path)
        if self.driver:
            tree.delete(f"{self.path}/driver")
            tree.delete(f"sys/bus/pci/drivers/{self.driver}/{self.bdf}")
        self.children, self.left_for_pod, self.driver = [], [], None
        self._lay_driver_facts(tree)

    def _lay_driver_facts(self, tree: Tree) -> None:
        path = self.path
        tree.text(f"{path}/enable", int(self.driver not in (None, VFIO)))
        tree.text(f"{path}/driver_override", VFIO if self.driver == VFIO else "(null)")
        tree.text(f"{path}/uevent", self.ids.uevent(self.bdf, self.driver))
        if self.sriov:
            tree.text(f"{path}/sriov_numvfs", len(self.vfs))

    def _attributes(self) -> dict[str, str | int]:
        attributes: dict[str, str | int] = {**self.ids.attributes(), "irq": 0, "reset": ""}
        if self.numa is not None:
            attributes["numa_node"] = self.numa
        if self.acpi_index is not None:
            attributes["acpi_index"] = self.acpi_index
        if self.sriov:
            attributes |= self.sriov.attributes()
        return attributes

"""Auxiliary devices below a PCI function; subfunctions are one kind of them."""

from dataclasses import dataclass

from tests.hosts.child import ChildDevice
from tests.hosts.tree import Tree


@dataclass(frozen=True, slots=True)
class AuxiliaryDevice:
    """``<module>.<kind>.<number>`` on the auxiliary bus; *sfnum* is there for subfunctions."""

    name: str
    sfnum: int | None = None
    bound: bool = True
    children: tuple[ChildDevice, ...] = ()

    def lay(self, tree: Tree, parent: str) -> None:
        path = f"{parent}/{self.name}"
        tree.text(f"{path}/uevent", f"DRIVER={self.driver}" if self.bound else "")
        tree.link(f"{path}/subsystem", "sys/bus/auxiliary")
        tree.link(f"sys/bus/auxiliary/devices/{self.name}", path)
        if self.sfnum is not None:
            tree.text(f"{path}/sfnum", self.sfnum)
        if self.bound:
            tree.link(f"{path}/driver", f"sys/bus/auxiliary/drivers/{self.driver}")
            tree.link(f"sys/bus/auxiliary/drivers/{self.driver}/{self.name}", path)
        for child in self.children:
            child.lay(tree, path)

    def remove(self, tree: Tree, parent: str) -> None:
        path = f"{parent}/{self.name}"
        for child in reversed(self.children):
            child.remove(tree, path)
        tree.delete(f"sys/bus/auxiliary/devices/{self.name}")
        tree.delete(f"sys/bus/auxiliary/drivers/{self.driver}/{self.name}")
        tree.delete(path)

    @property
    def driver(self) -> str:
        return self.name.rpartition(".")[0]


def subfunction(number: int, sfnum: int, *children: ChildDevice, module: str = "mlx5_core") -> AuxiliaryDevice:
    """The subfunction ``<module>.sf.<number>`` with what its driver made (netdev, RDMA device)."""
    return AuxiliaryDevice(f"{module}.sf.{number}", sfnum=sfnum, children=children)

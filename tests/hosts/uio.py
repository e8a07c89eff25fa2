"""uio devices, made by igb_uio and uio_pci_generic."""

from dataclasses import dataclass
from typing import Final

from tests.hosts.child import lay_class_device, remove_class_device
from tests.hosts.tree import Tree

_MAJOR: Final = 242


@dataclass(frozen=True, slots=True)
class UioDevice:
    """``uio/uio<number>`` and its node."""

    number: int
    driver: str = "igb_uio"

    def lay(self, tree: Tree, parent: str) -> None:
        name = f"uio{self.number}"
        uevent = f"MAJOR={_MAJOR}\nMINOR={self.number}\nDEVNAME={name}"
        path = lay_class_device(tree, parent, "uio", name, uevent)
        tree.text(f"{path}/name", self.driver)
        tree.text(f"{path}/dev", f"{_MAJOR}:{self.number}")
        tree.node(f"dev/{name}")

    def remove(self, tree: Tree, parent: str) -> None:
        tree.delete(f"dev/uio{self.number}")
        remove_class_device(tree, parent, "uio", f"uio{self.number}")

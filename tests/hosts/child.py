"""What a driver makes below a device: netdevs, RDMA devices, uio and vDPA devices, and the like."""

from typing import Protocol

from tests.hosts.tree import Tree


class ChildDevice(Protocol):
    """A device that is there while a driver is bound to its parent; *parent* is the latter's path."""

    def lay(self, tree: Tree, parent: str) -> None: ...

    def remove(self, tree: Tree, parent: str) -> None: ...


def lay_class_device(tree: Tree, parent: str, subsystem: str, name: str, uevent: str = "") -> str:
    """Lay out ``<parent>/<subsystem>/<name>`` and its links; returns its path."""
    path = f"{parent}/{subsystem}/{name}"
    tree.text(f"{path}/uevent", uevent)
    tree.link(f"{path}/device", parent)
    tree.link(f"{path}/subsystem", f"sys/class/{subsystem}")
    tree.link(f"sys/class/{subsystem}/{name}", path)
    return path


def remove_class_device(tree: Tree, parent: str, subsystem: str, name: str) -> None:
    """Remove it, and the directory that held it when it was the last one."""
    tree.delete(f"sys/class/{subsystem}/{name}")
    tree.delete(f"{parent}/{subsystem}/{name}")
    tree.delete_if_empty(f"{parent}/{subsystem}")

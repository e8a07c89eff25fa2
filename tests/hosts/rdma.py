"""RDMA devices: infiniband, uverbs, umad, issm and the shared connection manager."""

from dataclasses import dataclass
from typing import Final

from tests.hosts.child import lay_class_device, remove_class_device
from tests.hosts.tree import Tree

RDMA_CM: Final = "dev/infiniband/rdma_cm"

_MAJOR: Final = 231


@dataclass(frozen=True, slots=True)
class RdmaDevice:
    """An RDMA device and its character devices; a number that is None means no such device."""

    name: str
    uverbs: int | None
    umad: int | None = None
    issm: int | None = None
    link_layer: str = "Ethernet"
    pkeys: tuple[str, ...] = ("0xffff",)

    def lay(self, tree: Tree, parent: str) -> None:
        path = lay_class_device(tree, parent, "infiniband", self.name, f"NAME={self.name}")
        port = f"{path}/ports/1"
        tree.text(f"{path}/node_type", "1: CA")
        tree.text(f"{port}/link_layer", self.link_layer)
        tree.text(f"{port}/state", "4: ACTIVE")
        tree.text(f"{port}/phys_state", "5: LinkUp")
        for index, pkey in enumerate(self.pkeys):
            tree.text(f"{port}/pkeys/{index}", pkey)
        for subsystem, name, minor in self._nodes():
            uevent = f"MAJOR={_MAJOR}\nMINOR={minor}\nDEVNAME=infiniband/{name}"
            node = lay_class_device(tree, parent, subsystem, name, uevent)
            tree.text(f"{node}/ibdev", self.name)
            tree.text(f"{node}/dev", f"{_MAJOR}:{minor}")
            if subsystem == "infiniband_mad":
                tree.text(f"{node}/port", 1)
            tree.node(f"dev/infiniband/{name}")
        if not tree.exists(RDMA_CM):
            tree.node(RDMA_CM)

    def remove(self, tree: Tree, parent: str) -> None:
        for subsystem, name, _ in self._nodes():
            tree.delete(f"dev/infiniband/{name}")
            remove_class_device(tree, parent, subsystem, name)
        remove_class_device(tree, parent, "infiniband", self.name)

    def leave_for_pod(self, tree: Tree, parent: str) -> None:
        """Go to another RDMA namespace (``rdma system`` exclusive); the nodes in /dev stay."""
        for subsystem, name, _ in (*self._nodes(), ("infiniband", self.name, 0)):
            tree.delete(f"sys/class/{subsystem}/{name}")
            tree.delete(f"{parent}/{subsystem}/{name}")

    def _nodes(self) -> list[tuple[str, str, int]]:
        """Subsystem, name and minor number of each character device."""
        kinds = (
            ("infiniband_verbs", "uverbs", self.uverbs, 192),
            ("infiniband_mad", "umad", self.umad, 0),
            ("infiniband_mad", "issm", self.issm, 64),
        )
        return [(s, f"{kind}{n}", base + n) for s, kind, n, base in kinds if n is not None]

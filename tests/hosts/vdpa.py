"""vDPA devices below a VF, taken by vhost or by virtio."""

from dataclasses import dataclass
from typing import Final

from tests.hosts.netdev import Netdev
from tests.hosts.tree import Tree

VHOST: Final = "vhost_vdpa"
VIRTIO: Final = "virtio_vdpa"

_MAJOR: Final = 238


@dataclass(frozen=True, slots=True)
class VdpaDevice:
    """A vDPA device on the bus driver *driver*, or on none.

    *number* is that of ``/dev/vhost-vdpa-N`` or of ``virtioN``, which lies directly below the VF
    as mlx5 has it, with *netdev* when given.
    """

    name: str
    driver: str | None = VHOST
    number: int = 0
    netdev: Netdev | None = None

    def lay(self, tree: Tree, parent: str) -> None:
        path = f"{parent}/{self.name}"
        tree.text(f"{path}/uevent", f"DRIVER={self.driver}" if self.driver else "")
        tree.text(f"{path}/driver_override", "(null)")
        tree.link(f"{path}/subsystem", "sys/bus/vdpa")
        tree.link(f"sys/bus/vdpa/devices/{self.name}", path)
        if self.driver:
            driver = f"sys/bus/vdpa/drivers/{self.driver}"
            tree.link(f"{path}/driver", driver)
            tree.link(f"{driver}/{self.name}", path)
        if self.driver == VHOST:
            tree.text(f"{path}/{self._node}/dev", f"{_MAJOR}:{self.number}")
            tree.text(f"{path}/{self._node}/uevent", "")
            tree.node(f"dev/{self._node}")
        elif self.driver == VIRTIO:
            self._lay_virtio(tree, parent)

    def remove(self, tree: Tree, parent: str) -> None:
        tree.delete(f"sys/bus/vdpa/devices/{self.name}")
        if self.driver:
            tree.delete(f"sys/bus/vdpa/drivers/{self.driver}/{self.name}")
        if self.driver == VHOST:
            tree.delete(f"dev/{self._node}")
        elif self.driver == VIRTIO:
            self._remove_virtio(tree, parent)
        tree.delete(f"{parent}/{self.name}")

    @property
    def _node(self) -> str:
        return f"vhost-vdpa-{self.number}"

    def _lay_virtio(self, tree: Tree, parent: str) -> None:
        name, path = f"virtio{self.number}", f"{parent}/virtio{self.number}"
        tree.text(f"{path}/device", "0x0001")
        tree.text(f"{path}/uevent", "DRIVER=virtio_net\nMODALIAS=virtio:d00000001v00000000")
        tree.link(f"{path}/subsystem", "sys/bus/virtio")
        tree.link(f"{path}/driver", "sys/bus/virtio/drivers/virtio_net")
        tree.link(f"sys/bus/virtio/devices/{name}", path)
        tree.link(f"sys/bus/virtio/drivers/virtio_net/{name}", path)
        if self.netdev:
            self.netdev.lay(tree, path)

    def _remove_virtio(self, tree: Tree, parent: str) -> None:
        name = f"virtio{self.number}"
        if self.netdev:
            self.netdev.remove(tree, f"{parent}/{name}")
        tree.delete(f"sys/bus/virtio/devices/{name}")
        tree.delete(f"sys/bus/virtio/drivers/virtio_net/{name}")
        tree.delete(f"{parent}/{name}")

"""Network interfaces in sysfs."""

from dataclasses import dataclass
from typing import Final

from tests.hosts.child import lay_class_device, remove_class_device
from tests.hosts.tree import Tree

ETHER: Final = 1
INFINIBAND: Final = 32

_IFF_UP: Final = 0x1


@dataclass(frozen=True, slots=True)
class Netdev:
    """A network interface; *ifindex* is given by the host when 0.

    Attributes that are None do not exist in a simulated tree; on a real host they are there and
    reading them fails (EOPNOTSUPP; EINVAL for *carrier* and *speed* of an interface that is down).
    """

    name: str
    ifindex: int = 0
    up: bool = True
    carrier: bool = True
    operstate: str | None = None
    link_type: int = ETHER
    dev_port: int = 0
    phys_port_name: str | None = None
    phys_switch_id: str | None = None
    flags: int = 0x1002
    mtu: int = 1500
    speed: int | None = 25000
    address: str | None = None
    devtype: str | None = None
    iflink: int = 0

    def lay(self, tree: Tree, parent: str) -> None:
        path = lay_class_device(tree, parent, "net", self.name, self._uevent())
        self._attributes(tree, path)

    def lay_virtual(self, tree: Tree) -> str:
        """Lay it out as a device of its own kind (bond, bridge, VLAN); returns its path."""
        path = f"sys/devices/virtual/net/{self.name}"
        tree.text(f"{path}/uevent", self._uevent())
        tree.link(f"{path}/subsystem", "sys/class/net")
        tree.link(f"sys/class/net/{self.name}", path)
        self._attributes(tree, path)
        return path

    def remove(self, tree: Tree, parent: str) -> None:
        remove_class_device(tree, parent, "net", self.name)

    def leave_for_pod(self, tree: Tree, parent: str) -> None:
        """Go to another network namespace: ``net/`` stays, as an empty directory."""
        tree.delete(f"sys/class/net/{self.name}")
        tree.delete(f"{parent}/net/{self.name}")

    def lay_link(self, tree: Tree, path: str) -> None:
        """Write what follows the link's state."""
        state = self.operstate or ("up" if self.up and self.carrier else "down")
        tree.text(f"{path}/operstate", state)
        tree.text(f"{path}/flags", f"{self.flags | (_IFF_UP if self.up else 0):#x}")
        if self.up:
            tree.text(f"{path}/carrier", int(self.carrier))
        else:
            tree.delete(f"{path}/carrier")

    def _attributes(self, tree: Tree, path: str) -> None:
        tree.text(f"{path}/ifindex", self.ifindex)
        tree.text(f"{path}/iflink", self.iflink or self.ifindex)
        tree.text(f"{path}/type", self.link_type)
        tree.text(f"{path}/dev_port", self.dev_port)
        tree.text(f"{path}/mtu", self.mtu)
        tree.text(f"{path}/address", self.address or self._mac())
        if self.up and self.speed is not None:
            tree.text(f"{path}/speed", self.speed if self.carrier else -1)
        if self.phys_port_name is not None:
            tree.text(f"{path}/phys_port_name", self.phys_port_name)
        if self.phys_switch_id is not None:
            tree.text(f"{path}/phys_switch_id", self.phys_switch_id)
        self.lay_link(tree, path)

    def _mac(self) -> str:
        high, low = divmod(self.ifindex, 256)
        return f"02:00:00:{high >> 8:02x}:{high & 255:02x}:{low:02x}"

    def _uevent(self) -> str:
        devtype = f"DEVTYPE={self.devtype}\n" if self.devtype else ""
        return f"{devtype}INTERFACE={self.name}\nIFINDEX={self.ifindex}"


LOOPBACK: Final = Netdev(
    "lo",
    ifindex=1,
    operstate="unknown",
    link_type=772,
    flags=0x8,
    mtu=65536,
    speed=None,
    address="00:00:00:00:00:00",
)

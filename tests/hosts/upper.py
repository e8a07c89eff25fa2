"""Interfaces on top of others: bonds, bridges, VLANs, teams, Open vSwitch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from tests.hosts.netdev import Netdev
from tests.hosts.tree import Tree

Kind = Literal["bond", "bridge", "vlan", "team", "openvswitch"]

_IFF_MASTER: Final = 0x400
_DEVTYPES: Final = {"bond", "bridge", "vlan"}


@dataclass(frozen=True, slots=True)
class Upper:
    """An interface over *lowers*; all kinds but VLANs are their master."""

    kind: Kind
    netdev: Netdev
    lowers: tuple[str, ...]
    vlan: int = 0

    @property
    def name(self) -> str:
        return self.netdev.name

    def lay(self, tree: Tree, places: Mapping[str, str]) -> str:
        """Lay it out over lowers at *places* (name to path); returns its own path."""
        path = self.netdev.lay_virtual(tree)
        for lower in self.lowers:
            below = places[lower]
            tree.link(f"{path}/lower_{lower}", below)
            tree.link(f"{below}/upper_{self.name}", path)
            if self.kind != "vlan":
                tree.link(f"{below}/master", path)
        match self.kind:
            case "bond":
                self._lay_bond(tree, path)
            case "bridge":
                self._lay_bridge(tree, path, places)
            case "vlan":
                self._lay_vlan(tree)
            case "team" | "openvswitch":
                pass
        return path

    def release(self, tree: Tree, lower: str) -> None:
        """Let go of an interface that leaves; its own directory is gone already."""
        path = f"sys/devices/virtual/net/{self.name}"
        tree.delete(f"{path}/lower_{lower}")
        tree.delete(f"{path}/brif/{lower}")
        if self.kind == "bond":
            slaves = tree.read(f"{path}/bonding/slaves").split()
            tree.text(f"{path}/bonding/slaves", " ".join(s for s in slaves if s != lower))

    def _lay_bond(self, tree: Tree, path: str) -> None:
        tree.text(f"{path}/bonding/mode", "active-backup 1")
        tree.text(f"{path}/bonding/slaves", " ".join(self.lowers))
        tree.text(f"proc/net/bonding/{self.name}", self._bond_report())
        if not tree.exists("sys/class/net/bonding_masters"):
            tree.text("sys/class/net/bonding_masters", self.name)

    def _bond_report(self) -> str:
        head = "Ethernet Channel Bonding Driver: v6.12\n\nBonding Mode: fault-tolerance (active-backup)\nMII Status: up"
        return head + "".join(f"\n\nSlave Interface: {s}\nMII Status: up" for s in self.lowers)

    def _lay_bridge(self, tree: Tree, path: str, places: Mapping[str, str]) -> None:
        tree.text(f"{path}/bridge/bridge_id", "8000.020000000101")
        for lower in self.lowers:
            port = f"{places[lower]}/brport"
            tree.link(f"{port}/bridge", path)
            tree.link(f"{path}/brif/{lower}", port)

    def _lay_vlan(self, tree: Tree) -> None:
        config = "proc/net/vlan/config"
        head = "VLAN Dev name\t | VLAN ID\nName-Type: VLAN_NAME_TYPE_RAW_PLUS_VID_NO_PAD"
        before = tree.read(config) if tree.exists(config) else head
        line = f"{self.name:<15}| {self.vlan:<4} | {self.lowers[0]}"
        tree.text(config, f"{before}\n{line}")


def upper(kind: Kind, name: str, lowers: tuple[str, ...], ifindex: int, vlan: int = 0) -> Upper:
    devtype = kind if kind in _DEVTYPES else None
    flags = 0x1002 | (_IFF_MASTER if kind == "bond" else 0)
    return Upper(kind, Netdev(name, ifindex, flags=flags, devtype=devtype), lowers, vlan)

"""Network interfaces: those of a device, and what is stacked on them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from adapters.sysfs.foundations import Foundations
from adapters.sysfs.tree import Tree
from adapters.sysfs.uevent import parse_uevent
from domain.errors import InvalidPciAddress
from domain.host import NetInterface, UpperDevice
from domain.pci import PciAddress

_CLASS: Final = "sys/class/net"
_INFINIBAND: Final = 32
_CARRIER: Final[Mapping[str | None, bool]] = {"0": False, "1": True}


def interfaces_of(tree: Tree, directory: str, names: Sequence[str], *, ports: bool) -> tuple[NetInterface, ...]:
    """The interfaces of the device at a directory, given the names in it; ``ports``: with what tells ports apart.

    Own ones come first, then those of virtio devices below it.
    """
    found = [f"{directory}/net/{name}" for name in sorted(tree.names(f"{directory}/net"))] if "net" in names else []
    for below in names:
        if below.startswith("virtio"):
            found += (f"{directory}/{below}/net/{name}" for name in sorted(tree.names(f"{directory}/{below}/net")))
    return tuple(_interface(tree, path, ports=ports) for path in found)


def _interface(tree: Tree, path: str, *, ports: bool) -> NetInterface:
    name = path.rpartition("/")[2]
    hardware_type = tree.number(f"{path}/type")
    if not ports:
        return NetInterface(name, hardware_type)
    return NetInterface(
        name,
        hardware_type,
        port_name=tree.text(f"{path}/phys_port_name"),
        switch_id=tree.text(f"{path}/phys_switch_id"),
        dev_port=tree.number(f"{path}/dev_port"),
        carrier=_CARRIER.get(tree.text(f"{path}/carrier")),
        operstate=tree.text(f"{path}/operstate"),
    )


def still_below(tree: Tree, address: PciAddress, interfaces: Iterable[NetInterface]) -> Iterator[NetInterface]:
    """Those of a function's interfaces that lie below it yet, in whatever way."""
    for interface in interfaces:
        if f"/{address}/" in (tree.target(f"{_CLASS}/{interface.name}") or ""):
            yield interface


class InterfaceClass:
    """All interfaces of the network namespace, as /sys/class/net links to them."""

    def __init__(self, tree: Tree, foundations: Foundations) -> None:
        self._tree = tree
        self._targets = {name: tree.target(f"{_CLASS}/{name}") or "" for name in sorted(foundations.names(_CLASS))}
        self._virtual = tuple(name for name, target in self._targets.items() if "/virtual/" in target)
        """Those of no bus device: bonds, bridges, VLANs, veths, some representors."""

    def elsewhere(self, known: Collection[str]) -> Iterator[tuple[PciAddress, NetInterface]]:
        """Interfaces that belong to a PCI function by way of devices in between, with its address."""
        for name, target in self._targets.items():
            if name in known or name in self._virtual:
                continue
            for part in reversed(target.split("/")):
                try:
                    address = PciAddress.parse(part)
                except InvalidPciAddress:
                    continue
                yield address, _interface(self._tree, f"{_CLASS}/{name}", ports=False)
                break

    def uppers(self, physical: Collection[NetInterface]) -> Mapping[str, tuple[UpperDevice, ...]]:
        """What is stacked on each interface: from links lower_* of virtual ones and the link master of the others.

        Of IPoIB interfaces for another partition (``ib0.8001``) no link tells.
        """
        stacked: dict[str, dict[str, None]] = {}
        for upper in self._virtual:
            for entry in sorted(self._tree.names(f"{_CLASS}/{upper}")):
                if entry.startswith("lower_"):
                    stacked.setdefault(entry.removeprefix("lower_"), {})[upper] = None
        for interface in physical:
            if master := self._tree.target_name(f"{_CLASS}/{interface.name}/master"):
                stacked.setdefault(interface.name, {})[master] = None
        for child, lower in self._partitions([i.name for i in physical if i.hardware_type == _INFINIBAND]):
            stacked.setdefault(lower, {})[child] = None
        return {lower: tuple(UpperDevice(u, self._kind(u)) for u in names) for lower, names in stacked.items()}

    def switch_ports(self) -> Iterator[NetInterface]:
        """The virtual interfaces that are ports of a switch."""
        for name in self._virtual:
            port = _interface(self._tree, f"{_CLASS}/{name}", ports=True)
            if port.switch_id and port.port_name:
                yield port

    def _partitions(self, ports: Collection[str]) -> Iterator[tuple[str, str]]:
        """IPoIB interfaces of more partitions, each with the port that it was made on.

        ``iflink`` has the port's index (ipoib_get_iflink). That of a veth may be an index of another namespace, so only
        IPoIB interfaces are asked, and only where there are ports.
        """
        children = [name for name in self._virtual if ports and self._number(name, "type") == _INFINIBAND]
        indexes = {self._number(port, "ifindex"): port for port in ports} if children else {}
        for child in children:
            lower = self._number(child, "iflink")
            if lower is not None and lower in indexes:
                yield child, indexes[lower]

    def _number(self, name: str, attribute: str) -> int | None:
        return self._tree.number(f"{_CLASS}/{name}/{attribute}")

    def _kind(self, name: str) -> str | None:
        return parse_uevent(self._tree.text(f"{_CLASS}/{name}/uevent") or "").get("DEVTYPE")

"""Network interfaces: those of a function, and what is stacked on them."""

from collections.abc import Iterable, Iterator, Mapping

from adapters.sysfs.tree import Tree
from adapters.sysfs.uevent import parse_uevent
from domain.host import NetInterface, UpperDevice

_CLASS = "sys/class/net"


def interfaces_of(tree: Tree, directory: str, *, ports: bool) -> tuple[NetInterface, ...]:
    """The interfaces of the function at a directory, ordered by name; ``ports``: with what tells switch ports apart."""
    names = sorted(tree.names(f"{directory}/net"))
    return tuple(_interface(tree, f"{directory}/net/{name}", name, ports=ports) for name in names)


def _interface(tree: Tree, path: str, name: str, *, ports: bool) -> NetInterface:
    hardware_type = tree.number(f"{path}/type")
    if not ports:
        return NetInterface(name, hardware_type)
    return NetInterface(
        name,
        hardware_type,
        port_name=tree.text(f"{path}/phys_port_name"),
        switch_id=tree.text(f"{path}/phys_switch_id"),
        dev_port=tree.number(f"{path}/dev_port"),
    )


def virtual_interfaces(tree: Tree) -> tuple[str, ...]:
    """Interfaces that belong to no bus device: bonds, bridges, VLANs, veths, some representors."""
    return tuple(name for name in sorted(tree.names(_CLASS)) if "/virtual/" in (tree.target(f"{_CLASS}/{name}") or ""))


def uppers(
    tree: Tree, virtual: Iterable[str], physical: Iterable[tuple[str, str]]
) -> Mapping[str, tuple[UpperDevice, ...]]:
    """What is stacked on each interface: from the links lower_* of virtual ones and the link master of the others.

    ``physical`` are names and directories of interfaces.
    """
    stacked: dict[str, dict[str, None]] = {}
    for upper in virtual:
        for entry in sorted(tree.names(f"{_CLASS}/{upper}")):
            if entry.startswith("lower_"):
                stacked.setdefault(entry.removeprefix("lower_"), {})[upper] = None
    for name, directory in physical:
        if master := tree.target_name(f"{directory}/master"):
            stacked.setdefault(name, {})[master] = None
    return {lower: tuple(UpperDevice(u, _kind(tree, u)) for u in names) for lower, names in stacked.items()}


def _kind(tree: Tree, name: str) -> str | None:
    return parse_uevent(tree.text(f"{_CLASS}/{name}/uevent") or "").get("DEVTYPE")


def switch_ports(tree: Tree, virtual: Iterable[str]) -> Iterator[NetInterface]:
    """The virtual interfaces that are ports of a switch."""
    for name in virtual:
        port = _interface(tree, f"{_CLASS}/{name}", name, ports=True)
        if port.switch_id and port.port_name:
            yield port

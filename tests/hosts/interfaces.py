"""Network interfaces among the children of a device, and below those."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tests.hosts.auxiliary import AuxiliaryDevice
from tests.hosts.child import ChildDevice
from tests.hosts.netdev import Netdev
from tests.hosts.vdpa import VdpaDevice


def interfaces_below(parent: str, children: Iterable[ChildDevice]) -> Iterator[tuple[str, str]]:
    for child in children:
        match child:
            case Netdev():
                yield child.name, f"{parent}/net/{child.name}"
            case AuxiliaryDevice():
                yield from interfaces_below(f"{parent}/{child.name}", child.children)
            case VdpaDevice(netdev=Netdev(name=name)):
                yield name, f"{parent}/virtio{child.number}/net/{name}"
            case _:
                pass


def netdevs_among(children: Iterable[ChildDevice]) -> list[Netdev]:
    return [c for c in children if isinstance(c, Netdev)]


def numbered(child: ChildDevice, indexes: Iterator[int]) -> ChildDevice:
    """The child with interface indexes where it has none yet."""
    match child:
        case Netdev(ifindex=0):
            return replace(child, ifindex=next(indexes))
        case AuxiliaryDevice():
            return replace(child, children=tuple(numbered(c, indexes) for c in child.children))
        case VdpaDevice(netdev=Netdev(ifindex=0) as netdev):
            return replace(child, netdev=replace(netdev, ifindex=next(indexes)))
        case _:
            return child

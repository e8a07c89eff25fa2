"""Routing tables as ``/proc/net/route`` and ``/proc/net/ipv6_route`` show them."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final

UP: Final = 0x1
GATEWAY: Final = 0x2
REJECT: Final = 0x200

#: The kernel pads each line of the IPv4 table to this width (seq_setwidth in fib_trie.c).
_WIDTH: Final = 127
_HEAD: Final = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"
_NOWHERE: Final = "0" * 32
_LO: Final = (
    f"{_NOWHERE} 00 {_NOWHERE} 00 {_NOWHERE} ffffffff 00000001 00000000 00200200       lo",
    f"{_NOWHERE[:-1]}1 80 {_NOWHERE} 00 {_NOWHERE} 00000000 00000002 00000000 80200001       lo",
)


@dataclass(frozen=True, slots=True)
class Route:
    """A route through an interface; *gateway* empty is a route on the link."""

    interface: str
    destination: IPv4Network | IPv6Network
    gateway: str = ""
    metric: int = 0
    flags: int = UP

    def line(self) -> str:
        if isinstance(self.destination, IPv4Network):
            return self._line4(self.destination)
        return self._line6(self.destination)

    @property
    def _flags(self) -> int:
        return self.flags | (GATEWAY if self.gateway else 0)

    def _line4(self, net: IPv4Network) -> str:
        gateway = _swapped(IPv4Address(self.gateway or 0))
        text = (
            f"{self.interface}\t{_swapped(net.network_address)}\t{gateway}\t{self._flags:04X}"
            f"\t0\t0\t{self.metric}\t{_swapped(net.netmask)}\t0\t0\t0"
        )
        return text.ljust(_WIDTH)

    def _line6(self, net: IPv6Network) -> str:
        gateway = int(IPv6Address(self.gateway or 0))
        return (
            f"{int(net.network_address):032x} {net.prefixlen:02x} {_NOWHERE} 00 {gateway:032x} "
            f"{self.metric:08x} 00000001 00000000 {self._flags:08x} {self.interface:>8}"
        )


def default(interface: str, gateway: str, metric: int = 0) -> Route:
    """A default route, IPv4 or IPv6 as its *gateway* is."""
    return Route(interface, ip_network("::/0" if ":" in gateway else "0.0.0.0/0"), gateway, metric)


def table4(routes: Iterable[Route]) -> str:
    lines = [r.line() for r in routes if isinstance(r.destination, IPv4Network)]
    return "\n".join((_HEAD.ljust(_WIDTH), *lines))


def table6(routes: Iterable[Route]) -> str:
    """The IPv6 table; the kernel lists a rejecting ``::/0`` on ``lo`` first and last."""
    lines = [r.line() for r in routes if isinstance(r.destination, IPv6Network)]
    return "\n".join((*_LO, *lines, _LO[0]))


def _swapped(address: IPv4Address) -> str:
    """An address as the kernel prints it on a little-endian machine."""
    return address.packed[::-1].hex().upper()

"""Default routes from /proc/net/route and /proc/net/ipv6_route (formats: net/ipv4/fib_trie.c, net/ipv6/route.c)."""

from collections.abc import Iterator
from string import hexdigits
from typing import Final

from domain.host import DefaultRoute

# include/uapi/linux/route.h
_UP: Final = 0x0001
_REJECT: Final = 0x0200
# include/uapi/linux/ipv6_route.h
_LOCAL: Final = 0x80000000

_IPV4_COLUMNS: Final = 8
_IPV6_COLUMNS: Final = 10


def default_routes(ipv4: str, ipv6: str) -> Iterator[DefaultRoute]:
    """Routes to everywhere that carry traffic: up, not rejecting, and not on the loopback interface.

    The kernel lists a rejecting ``::/0`` on ``lo`` where no default route exists. A route to a routable gateway is left
    behind when the last routable address of the host is removed; it carries nothing.
    """
    for line in ipv4.splitlines()[1:]:
        columns = line.split()
        if len(columns) < _IPV4_COLUMNS or not _are_numbers(columns[1], columns[3], columns[7]):
            continue
        interface, destination, flags, mask = columns[0], columns[1], columns[3], columns[7]
        if int(destination, 16) == 0 and int(mask, 16) == 0 and _carries(interface, flags):
            yield DefaultRoute(interface, "IPv4")
    lines = [line.split() for line in ipv6.splitlines()]
    rows = [columns for columns in lines if len(columns) >= _IPV6_COLUMNS and _are_numbers(*columns[:9])]
    own = [columns[0] for columns in rows if int(columns[8], 16) & _LOCAL]
    routable = not own or any(map(_routable, own))
    for columns in rows:
        prefix_length, gateway, flags, interface = columns[1], columns[4], columns[8], columns[9]
        if int(prefix_length, 16) == 0 and _carries(interface, flags) and (routable or not _routable(gateway)):
            yield DefaultRoute(interface, "IPv6")


def _are_numbers(*texts: str) -> bool:
    return all(text and set(text) <= set(hexdigits) for text in texts)


def _routable(address: str) -> bool:
    """Whether 32 hex digits are an address beyond the link: not ::, ::1 or fe80::/10."""
    return int(address, 16) > 1 and address[:3] not in {"fe8", "fe9", "fea", "feb"}


def _carries(interface: str, flags: str) -> bool:
    bits = int(flags, 16)
    return bool(bits & _UP) and not bits & _REJECT and interface != "lo"

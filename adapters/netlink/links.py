"""Alternative names of network interfaces, which rtnetlink alone tells (IFLA_PROP_LIST)."""

from collections.abc import Mapping

from pyroute2 import IPRoute


def alternative_names() -> Mapping[str, tuple[str, ...]]:
    """The alternative names of each interface that has some: one question for all of them.

    Raises:
        OSError, pyroute2.netlink.exceptions.NetlinkError: if rtnetlink cannot be asked here.
    """
    found: dict[str, tuple[str, ...]] = {}
    with IPRoute() as route:
        for link in route.get_links():
            properties = link.get_attr("IFLA_PROP_LIST")
            if properties is not None:
                found[link.get_attr("IFLA_IFNAME")] = tuple(properties.get_attrs("IFLA_ALT_IFNAME"))
    return found

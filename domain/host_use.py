"""What the host itself uses: such functions are never handed out, their VFs stay eligible."""

from collections.abc import Mapping

from domain.host import Host
from domain.pci import PciAddress


def host_uses(host: Host) -> Mapping[PciAddress, str]:
    """Why the host needs a function, for each one it needs.

    A function is needed when one of its interfaces carries a default route or has another interface stacked on it
    (bond, bridge, VLAN, team, Open vSwitch): a pod that received it would take the node's network away.
    """
    reasons: dict[str, str] = {}
    for lower, uppers in host.uppers.items():
        upper = uppers[0]
        kind = f"{upper.kind} " if upper.kind else ""
        reasons[lower] = f"{kind}{upper.name} on {lower}"
    for route in host.default_routes:
        reasons[route.interface] = f"{route.family} default route via {route.interface}"
    if not reasons:
        return {}
    return {
        function.address: reasons[interface.name]
        for function in host.functions.values()
        for interface in function.interfaces
        if interface.name in reasons
    }

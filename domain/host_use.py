"""What the host itself uses: such devices are not handed out, VFs and subfunctions below them stay eligible."""

from collections.abc import Mapping

from domain.host import Host


def host_uses(host: Host) -> Mapping[str, str]:
    """Why the host needs a device, by the id of each device it needs.

    A device is needed when one of its interfaces carries a default route or has another interface stacked on it
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
    owners = [(str(f.address), f.interfaces) for f in host.functions.values() if f.interfaces]
    owners.extend((a.name, a.interfaces) for a in host.auxiliary.values())
    return {
        owner: reasons[interface.name]
        for owner, interfaces in owners
        for interface in interfaces
        if interface.name in reasons
    }

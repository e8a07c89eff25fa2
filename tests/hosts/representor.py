"""switchdev: a PF's uplink and the representors of its VFs."""

from dataclasses import replace

from tests.hosts.netdev import Netdev


def switchdev(uplink: Netdev, vfs: int, *, switch_id: str, pf: int = 0) -> tuple[Netdev, ...]:
    """The netdevs of a PF in switchdev mode: its *uplink* first, then a representor a VF.

    They are all children of the PF and share its switch id; port names tell them apart.
    """
    port = replace(uplink, phys_switch_id=switch_id, phys_port_name=f"p{pf}")
    return port, *(
        Netdev(f"{uplink.name}_{vf}", phys_switch_id=switch_id, phys_port_name=f"pf{pf}vf{vf}") for vf in range(vfs)
    )

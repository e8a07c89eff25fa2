"""Scenes: the host changes."""

import asyncio
from typing import Final

from tests.daemon.documentation.teller import Scene, Teller, started
from tests.daemon.live import DPDK, KERN
from tests.hosts.host import SimHost
from tests.hosts.named import h1, h2

PORTS: Final = {"resourceName": "ports", "selectors": {"drivers": ["ixgbe"]}}
LINK: Final = {**KERN, "health": "link"}


def with_port() -> SimHost:
    """H1, and a NIC without VFs."""
    host = h1()
    host.function("0000:5e:00.0", device="1563", driver="ixgbe", netdevs=["eno2"])
    return host


async def vfs_come_and_go(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("echo 0 > /sys/class/net/ens1f0/device/sriov_numvfs")
    node.laid.remove_vfs("0000:3b:00.0")
    await node.counts("kern", 0, 0)
    await asyncio.sleep(0.5)
    teller.step("echo 2 > /sys/class/net/ens1f0/device/sriov_numvfs")
    node.laid.create_vfs("0000:3b:00.0", 2)
    await node.counts("kern", 2, 2)


async def free_vf_is_rebound(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("dpdk-devbind.py -b vfio-pci 0000:3b:01.1")
    node.laid.rebind("0000:3b:01.1", "vfio-pci")
    await node.counts("kern", 3, 3)
    await node.served("dpdk", 1)


async def held_vf_is_rebound(teller: Teller) -> None:
    node = teller.node
    await started(node)
    (held,) = await node.holds("pod", "kern")
    teller.step(f"dpdk-devbind.py -b vfio-pci {held}, which a pod holds")
    node.laid.rebind(held, "vfio-pci")
    await node.counts("kern", 4, 3)
    await asyncio.sleep(1)
    teller.step("the pod ends")
    await node.kubelet.terminate("pod")
    await node.counts("kern", 3, 3)
    await node.served("dpdk", 1)


async def pf_is_unplugged(teller: Teller) -> None:
    node = teller.node
    await started(node)
    await node.holds("pod", "kern")
    teller.step("the PF of four VFs is unplugged; a pod holds one of them")
    node.laid.remove_function("0000:3b:00.0")
    await node.counts("kern", 1, 0)


async def cable_is_pulled(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("the cable is pulled")
    node.laid.set_carrier("ens1f0", False)
    await node.counts("kern", 4, 0)
    await asyncio.sleep(0.5)
    teller.step("the cable is back")
    node.laid.set_carrier("ens1f0", True)
    await node.counts("kern", 4, 4)


async def node_goes(teller: Teller) -> None:
    node = teller.node
    await started(node, "dpdk")
    teller.step("/dev/vfio/101 goes")
    node.laid.tree.delete("dev/vfio/101")
    await node.counts("dpdk", 4, 3)
    await asyncio.sleep(0.5)
    teller.step("/dev/vfio/101 is back")
    node.laid.tree.node("dev/vfio/101")
    await node.counts("dpdk", 4, 4)


async def route_moves(teller: Teller) -> None:
    node = teller.node
    await started(node, "ports", 1)
    teller.step("ip route replace default via 192.0.2.1 dev eno2")
    node.laid.uses.add_default_route("eno2", "192.0.2.1")
    await node.counts("ports", 0, 0)
    await asyncio.sleep(0.5)
    teller.step("ip route del default via 192.0.2.1 dev eno2")
    node.laid.uses.drop_routes("eno2")
    await node.counts("ports", 1, 1)


#: By section of the document: a scene for each block of log lines.
SCENES: Final[dict[str, list[Scene]]] = {
    "VFs are made and removed": [Scene(vfs_come_and_go)],
    "A driver is bound": [Scene(free_vf_is_rebound, pools=(KERN, DPDK)), Scene(held_vf_is_rebound, pools=(KERN, DPDK))],
    "A PF is unplugged": [Scene(pf_is_unplugged)],
    "The cable is pulled": [Scene(cable_is_pulled, pools=(LINK,))],
    "A device node goes": [Scene(node_goes, h2, (DPDK,))],
    "The default route moves onto a PF": [Scene(route_moves, with_port, (KERN, PORTS))],
}

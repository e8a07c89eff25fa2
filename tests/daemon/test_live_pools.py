"""Pools that follow the host: functions come, go and change drivers under a running daemon."""

import asyncio
import random

import pytest

from tests.daemon.live import CLASSIC, DPDK, IDS, KERN, WATCHER, Live, live
from tests.daemon.quiet import Quiet
from tests.hosts.host import SimHost
from tests.hosts.named import demo, h1, h2
from tests.hosts.tree import Tree

WAYS = pytest.mark.parametrize("way", [WATCHER, CLASSIC])
VFS = {"resourceName": "vfs", "selectors": {"vendors": ["8086"], "devices": ["1889"]}}
PFS = {"resourceName": "pfs", "selectors": {"vendors": ["8086"], "devices": ["1592"]}}
PF = "0000:3b:00.0"


@WAYS
def test_vfs_created_later_are_served_and_their_pf_leaves_its_pool(way: str) -> None:
    """Case B01: the pool had no server before."""

    async def story() -> None:
        async with live(h1(vfs=0), VFS, PFS, way=way) as node:
            await node.start()
            await node.served("pfs", 1)
            assert node.lists("vfs") == []
            node.laid.create_vfs(PF, 4)
            await node.served("vfs", 4)
            await node.counts("pfs", 0, 0)
            assert node.health("vfs") == dict.fromkeys(IDS, "Healthy")
            assert await node.holds("pod", "vfs")
            node.laid.remove_vfs(PF)
            await node.counts("pfs", 1, 1)

    asyncio.run(story())


def test_a_pool_that_is_served_grows_by_the_vfs_of_another_pf() -> None:
    """Case B01."""

    async def story() -> None:
        host = h1()
        host.pf("0000:af:00.0", netdevs=["ens2f0"])
        async with live(host, VFS) as node:
            await node.start()
            await node.served("vfs", 4)
            node.laid.create_vfs("0000:af:00.0", 3)
            await node.counts("vfs", 7, 7)
            assert node.streams("vfs") == 1

    asyncio.run(story())


@WAYS
def test_a_rebound_vf_changes_pools_and_brings_the_nodes_of_its_new_driver(way: str) -> None:
    """Case B02."""

    async def story() -> None:
        async with live(h1(), KERN, DPDK, way=way) as node:
            await node.start()
            await node.served("kern", 4)
            node.laid.rebind(IDS[1], "vfio-pci")
            await node.counts("kern", 3, 3)
            await node.served("dpdk", 1)
            assert list(node.health("kern")) == [IDS[0], IDS[2], IDS[3]]
            admitted = await node.kubelet.admit("pod", {"intel.com/dpdk": 1})
            started = admitted.containers["c0"]
            assert started.env["PCIDEVICE_INTEL_COM_DPDK"] == IDS[1]
            assert {device["host"] for device in started.devices} == {"/dev/vfio/vfio", "/dev/vfio/102"}
            await node.kubelet.terminate("pod")
            assert sorted(node.files()) == [
                f"intel.com-{pool}-{id_}-device.json"
                for pool, id_ in [("dpdk", IDS[1]), ("kern", IDS[0]), ("kern", IDS[2]), ("kern", IDS[3])]
            ]

    asyncio.run(story())


def test_a_rebound_vf_that_nobody_holds_goes_there_and_back() -> None:
    """Case B02."""

    async def story() -> None:
        async with live(demo(), KERN, DPDK) as node:
            await node.start()
            await node.served("kern", 8)
            await node.served("dpdk", 8)
            for driver, kern, dpdk in [("vfio-pci", 7, 9), ("iavf", 8, 8), (None, 7, 8), ("iavf", 8, 8)]:
                node.laid.rebind(IDS[0], driver)
                await node.counts("kern", kern, kern)
                await node.counts("dpdk", dpdk, dpdk)
            assert (node.streams("kern"), node.streams("dpdk")) == (1, 1)

    asyncio.run(story())


@WAYS
def test_vfs_that_are_removed_leave_the_list_with_their_files(way: str) -> None:
    """Case B03."""

    async def story() -> None:
        async with live(h2(), DPDK, way=way) as node:
            await node.start("--use-cdi")
            await node.served("dpdk", 4)
            for id_ in IDS[2:]:
                node.laid.remove_function(id_)
            await node.until(lambda: node.health("dpdk") == dict.fromkeys(IDS[:2], "Healthy"))
            assert 2 <= len(node.lists("dpdk")) <= 3  # one more, where this process was not let run in between
            assert await node.refusal("dpdk", IDS[2]) == f"{IDS[2]} is not in pool intel.com/dpdk"
            await node.until(lambda: len(node.files()) == 2)
            (cdi,) = (node.directory / "cdi").iterdir()
            assert IDS[1] in cdi.read_text(encoding="utf-8")
            assert IDS[2] not in cdi.read_text(encoding="utf-8")

    asyncio.run(story())


def test_a_vf_without_a_driver_is_in_its_pool_as_soon_as_it_has_one() -> None:
    """Case B05."""

    async def story() -> None:
        async with live(h1(), KERN, {"resourceName": "rest", "selectors": {"vendors": ["8086"]}}) as node:
            node.laid.rebind(IDS[1], None)
            await node.start()
            await node.served("kern", 3)
            assert IDS[1] not in node.health("kern")
            assert node.lists("rest") == []
            node.laid.rebind(IDS[1], "iavf")
            await node.counts("kern", 4, 4)
            assert len(node.lists("kern")) == 2

    asyncio.run(story())


def test_rescans_of_a_host_in_another_order_send_nothing() -> None:
    """Case B09: the pool beside it shows that the host was read."""

    async def story() -> None:
        marked = {"resourceName": "marked", "health": "link", "holdDown": 0, "holdUp": 0}
        host = h1(vfs=8)
        host.vfs(host.pf("0000:af:00.0", netdevs=["ens2f0"]), 1)
        kern = {**KERN, "selectors": {"pfNames": ["ens1f0"]}}
        async with live(host, kern, {**marked, "selectors": {"pfNames": ["ens2f0"]}}) as node:
            await node.start()
            await node.served("kern", 8)
            await node.served("marked", 1)
            async with Quiet(node, "kern"):
                for rescan in range(10):
                    shuffle(node.laid.tree, "sys/bus/pci/devices", rescan)
                    node.laid.set_carrier("ens2f0", rescan % 2 == 1)
                    await node.counts("marked", 1, rescan % 2)
            assert len(node.lists("marked")) == 11

    asyncio.run(story())


def test_many_vfs_created_at_once_are_one_or_two_lists() -> None:
    async def story() -> None:
        host = SimHost()
        host.vfs(host.pf(PF, netdevs=["ens1f0"], totalvfs=256), 256)
        async with live(host, KERN) as node:
            links = hide_functions(node, "0000:3b:01.0")
            await node.start()
            await node.served("kern", 1)
            for path, target in links.items():
                node.laid.tree.raw_link(path, target)
            await node.counts("kern", 256, 256)
            assert len(node.lists("kern")) - 1 <= 2

    asyncio.run(story())


def shuffle(tree: Tree, directory: str, seed: int) -> None:
    """Give the entries of a directory of links another order; each is there all the time."""
    order = tree.names(directory)
    random.Random(seed).shuffle(order)  # noqa: S311 - any other order will do
    for entry in order:
        link = tree.root / directory / entry
        aside = tree.root / ".order"
        aside.symlink_to(link.readlink())
        aside.replace(link)


def hide_functions(node: Live, but: str) -> dict[str, str]:
    """Take all VFs but one off the bus; the links that bring them back."""
    devices = "sys/bus/pci/devices"
    names = [n for n in node.laid.tree.names(devices) if n in node.laid.description.functions and n not in {PF, but}]
    links = {f"{devices}/{n}": str((node.laid.root / devices / n).readlink()) for n in names}
    for path in links:
        node.laid.tree.delete(path)
    return links

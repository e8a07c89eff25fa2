"""NUMA nodes of devices, as the kubelet's topology manager sees them."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.daemon.process import DaemonProcess
from tests.fakes.kubelet_harness import KubeletHarness
from tests.hosts.iommu import VFIO
from tests.hosts.named import demo
from tests.kubelet.scene import ALIGNED, DPDK, KERN, POOLS, Node, held, node, play, until_allocatable

NOWHERE: Final = ({"resourceName": "dpdk", "excludeTopology": True, "selectors": {"drivers": [VFIO]}},)


def test_aligned_devices_come_from_one_node(binary: Path, way: str) -> None:
    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        assert await kubelet.hints("asks", {DPDK: 3}) == {
            DPDK: [
                {"nodes": [0], "preferred": True},
                {"nodes": [1], "preferred": True},
                {"nodes": [0, 1], "preferred": False},
            ]
        }
        assert (await kubelet.admit("pod", {DPDK: 3, KERN: 2})).admitted
        container = (await kubelet.devices("pod"))["pod"]["c0"]
        (numa,) = container["affinity"]
        assert {tuple(nodes) for pool in (DPDK, KERN) for nodes in container["devices"][pool].values()} == {(numa,)}
        refused = await kubelet.admit("too many of one node", {DPDK: 5})
        assert refused.reason == "TopologyAffinityError"

    play(binary, way, story, *ALIGNED)


@pytest.mark.parametrize("why", ["unknown", "excluded"])
def test_devices_without_a_node_are_given_whatever_the_policy(binary: Path, way: str, why: str) -> None:
    """The kernel's -1 is not sent: with a policy the kubelet would refuse every pod (facts/kubelet.md 8.5)."""

    async def run() -> None:
        with without_nodes(why) as here:
            async with KubeletHarness(binary, here.directory, *ALIGNED) as kubelet, here.daemon(way):
                await until_allocatable(kubelet, {DPDK: 8})
                assert await kubelet.hints("asks", {DPDK: 8}) == {DPDK: []}
                admitted = await kubelet.admit("pod", {DPDK: 8})
                assert admitted.admitted, admitted.message
                assert len(held(await kubelet.devices(), DPDK)) == 8

    asyncio.run(run())


@contextmanager
def without_nodes(why: str) -> Iterator[Node]:
    host = demo()
    pools: tuple[Mapping[str, Any], ...] = NOWHERE
    if why == "unknown":
        pools = POOLS[1:]
        for function in host.functions.values():
            function.numa = -1
    with node(host, pools) as here:
        yield here

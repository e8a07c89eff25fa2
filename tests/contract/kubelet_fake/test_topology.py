"""NUMA (facts/kubelet.md 5.4, 8.5)."""

from pathlib import Path

import pytest

from tests.contract.kubelet_fake.stage import Stage, story
from tests.fakes.plugin import RESOURCE, device


@pytest.mark.parametrize("version", ["1.34", "1.37"])
@story
async def test_odd_nodes_satisfy_no_hint(directory: Path, version: str) -> None:
    """Item 37: -1, an empty TopologyInfo and a node the machine lacks."""
    devices = [
        device("d0", numa=[-1]),
        device("d1", numa=[]),
        device("d2", numa=[0, 1]),
        device("d3", numa=[7]),
    ]
    async with Stage(directory, version, single_numa_node=True) as stage:
        await stage.registered(devices=devices)
        assert (await stage.kubelet.admit("a", {RESOURCE: 1})).admitted
        held = (await stage.kubelet.devices("a"))["a"]["c0"]
        assert sorted(held["devices"][RESOURCE]["d2"]) == [0, 1]
        assert held["affinity"] == [0]
        refused = await stage.kubelet.admit("b", {RESOURCE: 1})
        assert refused.reason == "TopologyAffinityError"


@pytest.mark.parametrize("version", ["1.34", "1.37"])
@story
async def test_a_resource_all_on_minus_one_fits_nowhere(directory: Path, version: str) -> None:
    """Item 37, 8.5."""
    async with Stage(directory, version, single_numa_node=True) as stage:
        await stage.registered(devices=[device(f"d{n}", numa=[-1]) for n in range(4)])
        refused = await stage.kubelet.admit("a", {RESOURCE: 1})
        assert refused.reason == "TopologyAffinityError"


@story
async def test_without_topology_there_is_nothing_to_align(directory: Path) -> None:
    """Item 37."""
    async with Stage(directory, single_numa_node=True) as stage:
        await stage.registered()
        assert (await stage.kubelet.admit("a", {RESOURCE: 4})).admitted


@story
async def test_two_resources_have_to_share_a_node(directory: Path) -> None:
    """Item 37."""
    async with Stage(directory, single_numa_node=True) as stage:
        await stage.registered("p.sock", devices=[device("d0", numa=[0]), device("d1", numa=[1])])
        other = "ex.com/other"
        await stage.registered("q.sock", resource=other, devices=[device("e0", numa=[1])])
        assert (await stage.kubelet.admit("a", {RESOURCE: 1, other: 1})).admitted
        held = (await stage.kubelet.devices("a"))["a"]["c0"]["devices"]
        assert held == {RESOURCE: {"d1": [1]}, other: {"e0": [1]}}
        await stage.kubelet.terminate("a")
        assert (await stage.kubelet.admit("b", {other: 1})).admitted
        refused = await stage.kubelet.admit("c", {RESOURCE: 1, other: 1})
        assert refused.reason == "TopologyAffinityError"

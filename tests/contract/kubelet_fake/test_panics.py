"""Where a plugin brings the kubelet down (facts/kubelet.md 5.2, table of section 8)."""

from pathlib import Path
from typing import Any

import pytest

from tests.contract.kubelet_fake.stage import Stage, story
from tests.fakes.kubelet import KubeletPanic
from tests.fakes.plugin import RESOURCE, device

VERSIONS = ["1.32", "1.34", "1.35", "1.36", "1.37"]


@pytest.mark.parametrize("version", VERSIONS)
@story
async def test_a_device_dropped_during_its_allocate_is_a_panic_from_1_34_on(directory: Path, version: str) -> None:
    """Item 36."""
    async with Stage(directory, version) as stage:
        plugin = await stage.registered(devices=["d0"])

        async def drop(request: Any, context: Any) -> None:
            plugin.drop("d0")
            await stage.kubelet.wait_allocatable(RESOURCE, 0)

        plugin.scripts["Allocate"] = drop
        if version == "1.32":
            assert (await stage.kubelet.admit("a", {RESOURCE: 1})).admitted
            return
        with pytest.raises(KubeletPanic):
            await stage.kubelet.admit("a", {RESOURCE: 1})
        await stage.kubelet.wait_for(lambda: plugin.streams == 0)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("aligned", [False, True])
@story
async def test_a_holder_readmitted_without_its_device_is_a_panic_from_1_34_on(
    directory: Path, version: str, aligned: bool
) -> None:
    """Item 36, table of section 8: only with a topology policy; without one it is refused."""
    devices = [device(f"d{n}", numa=[n // 2]) for n in range(4)]
    async with Stage(directory, version, single_numa_node=aligned) as stage:
        plugin = await stage.registered(devices=devices, preferred=True)
        await stage.kubelet.admit("a", {RESOURCE: 1})
        await plugin.stop()
        await stage.kubelet.restart(containers_gone=True, no_readmit=True)
        plugin.drop("d0")
        await plugin.serve("p2.sock")
        await plugin.register()
        await stage.kubelet.wait_allocatable(RESOURCE, 3)
        if aligned and version != "1.32":
            with pytest.raises(KubeletPanic):
                await stage.kubelet.readmit()
        else:
            verdicts = await stage.kubelet.readmit()
            assert not verdicts["a"].admitted


@story
async def test_after_a_panic_nothing_works_until_another_start(directory: Path) -> None:
    """Item 36: the panic is kept for the test to see."""
    async with Stage(directory, fake_only=True) as stage:
        plugin = await stage.registered(devices=["d0"])

        async def drop(request: Any, context: Any) -> None:
            plugin.drop("d0")
            await stage.kubelet.wait_allocatable(RESOURCE, 0)

        plugin.scripts["Allocate"] = drop
        with pytest.raises(KubeletPanic):
            await stage.kubelet.admit("a", {RESOURCE: 1})
        assert len(stage.kubelet.panics) == 1
        with pytest.raises(KubeletPanic):
            await stage.kubelet.capacity()
        await stage.kubelet.restart()
        assert await stage.counts() == (0, 0)

"""ListAndWatch: what a message does and what its end does (facts/kubelet.md 4.1, 5.1, 8.1, 8.4)."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.contract.kubelet_fake.stage import Stage, story
from tests.fakes.plugin import RESOURCE, RegisterFailed, device, failing


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@story
async def test_a_stream_that_ends_is_not_opened_again(directory: Path) -> None:
    """Item 14: everything is unhealthy, capacity stays, and nobody calls the living server."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        seen = list(plugin.seen)
        await plugin.end_streams()
        await stage.kubelet.wait_allocatable(RESOURCE, 0)
        await stage.pause(5)
        assert await stage.counts() == (4, 0)
        assert plugin.seen == seen
        refused = await stage.kubelet.admit("a", {RESOURCE: 1})
        assert refused.reason == "UnexpectedAdmissionError"
        assert refused.message == (
            "Allocate failed due to no healthy devices present; "
            f"cannot allocate unhealthy devices {RESOURCE}, which is unexpected"
        )


@story
async def test_a_stream_that_fails_before_its_first_message_leaves_zero_of_zero(directory: Path) -> None:
    """Items 14, 17: on the Node, though the resource was never listed."""
    async with Stage(directory) as stage:
        plugin = await stage.serving()
        plugin.scripts["ListAndWatch"] = failing(grpc.StatusCode.INTERNAL, "no list")
        await plugin.register()
        await stage.kubelet.wait_for(lambda: "ListAndWatch" in plugin.methods)
        await stage.pause()
        report = await stage.kubelet.capacity()
        assert report.device_manager.capacity == {RESOURCE: 0}
        assert report.device_manager.allocatable == {}
        assert report.node.allocatable == {RESOURCE: 0}
        assert plugin.methods.count("ListAndWatch") == 1


@story
async def test_after_five_minutes_the_node_shows_zero_of_zero(directory: Path) -> None:
    """Item 15: the resource is removed once, and its key stays on the Node."""
    clock = Clock()
    async with Stage(directory, clock=clock) as stage:
        plugin = await stage.registered()
        await stage.kubelet.capacity()
        await plugin.stop()
        await stage.kubelet.wait_allocatable(RESOURCE, 0)
        clock.now += 300
        assert (await stage.kubelet.capacity()).node.capacity == {RESOURCE: 4}
        clock.now += 1
        report = await stage.kubelet.capacity()
        assert report.device_manager.removed == (RESOURCE,)
        assert report.device_manager.capacity == {}
        assert report.node.capacity == {RESOURCE: 0}
        assert report.node.allocatable == {RESOURCE: 0}
        assert (await stage.kubelet.capacity()).device_manager.removed == ()
        assert (await stage.kubelet.node()).capacity == {RESOURCE: 0}


@story
async def test_expire_ends_the_grace_of_a_stopped_endpoint_only(directory: Path) -> None:
    """Item 15, by the harness's command."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        with pytest.raises(LookupError, match="is not stopped"):
            await stage.kubelet.expire(RESOURCE)
        await plugin.stop()
        await stage.kubelet.wait_allocatable(RESOURCE, 0)
        await stage.kubelet.expire(RESOURCE)
        report = await stage.kubelet.capacity()
        assert report.device_manager.removed == (RESOURCE,)
        assert report.node.capacity == report.node.allocatable == {RESOURCE: 0}
        assert (await stage.kubelet.capacity()).device_manager.removed == ()
        with pytest.raises(LookupError, match="no endpoint"):
            await stage.kubelet.expire("ex.com/none")


@story
async def test_registering_again_recovers(directory: Path) -> None:
    """Item 16: at any time, here on the same socket after its stream ended."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        await plugin.end_streams()
        await stage.kubelet.wait_allocatable(RESOURCE, 0)
        await plugin.register()
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        await plugin.stop()
        await stage.kubelet.wait_allocatable(RESOURCE, 0)
        await stage.kubelet.expire(RESOURCE)
        await stage.kubelet.capacity()
        await plugin.serve("p2.sock")
        await plugin.register()
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        assert await stage.counts() == (4, 4)


@story
async def test_a_message_replaces_the_table(directory: Path) -> None:
    """Item 17."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        plugin.devices = [device("e0"), device("e1", "Unhealthy")]
        plugin.push()
        await stage.kubelet.wait_allocatable(RESOURCE, 1)
        assert await stage.counts() == (2, 1)


@pytest.mark.parametrize("health", ["healthy", "HEALTHY", "", "Healthy ", "Unhealthy"])
@story
async def test_only_the_exact_word_is_healthy(directory: Path, health: str) -> None:
    """Item 17."""
    async with Stage(directory) as stage:
        await stage.registered(devices=[device("d0"), device("d1", health)])
        assert await stage.counts() == (2, 1)


@story
async def test_an_id_listed_twice_counts_twice(directory: Path) -> None:
    """Item 17, 8.4: once healthy and once not."""
    async with Stage(directory) as stage:
        await stage.registered(devices=[device("same"), device("same", "Unhealthy")])
        assert await stage.counts() == (2, 1)


@story
async def test_an_empty_list_is_zero_of_zero(directory: Path) -> None:
    """Item 17: the resource is on the Node, and a pod that asks for it is refused."""
    async with Stage(directory) as stage:
        await stage.registered(devices=[])
        assert (await stage.kubelet.capacity()).node.capacity == {RESOURCE: 0}
        refused = await stage.kubelet.admit("a", {RESOURCE: 1})
        assert "no healthy devices present" in refused.message


@story
async def test_without_a_message_the_resource_is_not_on_the_node(directory: Path) -> None:
    """Item 17: and a pod that asks for it runs without (8.9)."""
    over = asyncio.Event()

    async def silence(request: Any, context: Any) -> None:
        await over.wait()

    async with Stage(directory) as stage:
        plugin = await stage.serving()
        plugin.scripts["ListAndWatch"] = silence
        await plugin.register()
        await stage.pause()
        assert (await stage.kubelet.capacity()).node.capacity == {}
        assert (await stage.kubelet.admit("a", {RESOURCE: 1})).admitted
        over.set()
        await stage.kubelet.wait_allocatable(RESOURCE, 4)


@story
async def test_a_message_over_four_mebibytes_ends_the_stream(directory: Path) -> None:
    """Item 18: RESOURCE_EXHAUSTED on the kubelet's side; the plugin is merely cut off."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        plugin.devices = [device(f"{number:0120d}") for number in range(40000)]
        assert sum(d.ByteSize() + 3 for d in plugin.devices) > 4 << 20
        plugin.push()
        await stage.kubelet.wait_allocatable(RESOURCE, 0)
        assert await stage.counts() == (4, 0)
        await stage.kubelet.wait_for(lambda: plugin.streams == 0)


@story
async def test_the_node_changes_at_a_tick_only(directory: Path) -> None:
    """Item 21."""
    async with Stage(directory, node_tick=2.0) as stage:
        plugin = await stage.serving()
        await plugin.register()
        # Not by its capacity: to ask for that is a tick.
        await stage.kubelet.wait_for(lambda: plugin.streams == 1)
        assert (await stage.kubelet.node()).capacity == {}

        async def shown() -> bool:
            return (await stage.kubelet.node()).allocatable == {RESOURCE: 4}

        await stage.kubelet.wait_for(shown, 10.0)


@story
async def test_a_register_that_fails_leaves_the_node_alone(directory: Path) -> None:
    """Items 4, 17."""
    async with Stage(directory) as stage:
        plugin = await stage.serving()
        plugin.scripts["GetDevicePluginOptions"] = failing(grpc.StatusCode.UNAVAILABLE, "later")
        with pytest.raises(RegisterFailed, match="code = Unavailable desc = later"):
            await plugin.register()
        assert (await stage.kubelet.capacity()).node.capacity == {}

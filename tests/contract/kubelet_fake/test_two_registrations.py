"""Two registrations of one resource: the sharpest trap (facts/kubelet.md 4.2, 8.2, 8.3)."""

from pathlib import Path

import grpc
import pytest

from tests.contract.kubelet_fake.stage import Stage, story
from tests.fakes.plugin import RESOURCE, RegisterFailed, failing

BEFORE_1_37 = ["1.32", "1.34", "1.35", "1.36"]


@pytest.mark.parametrize("version", [*BEFORE_1_37, "1.37"])
@story
async def test_the_end_of_the_first_cuts_off_the_second_up_to_1_36(directory: Path, version: str) -> None:
    """Item 19: the client is looked up by resource alone. Item 20: 1.37 leaves the other be."""
    async with Stage(directory, version) as stage:
        first = await stage.registered("p.sock", devices=["d0", "d1"])
        second = await stage.registered("q.sock", devices=["d1", "d2", "d3"])
        await first.stop()
        await stage.pause()
        if version == "1.37":
            assert await stage.counts() == (3, 3)
            assert second.streams == 1
        else:
            assert await stage.counts() == (3, 0)
            assert second.streams == 0
            assert second.methods.count("ListAndWatch") == 1


@pytest.mark.parametrize("version", [*BEFORE_1_37, "1.37"])
@story
async def test_both_streams_write_the_same_table(directory: Path, version: str) -> None:
    """Item 19: the last message wins, be it stale."""
    async with Stage(directory, version) as stage:
        first = await stage.registered("p.sock", devices=["d0", "d1"])
        second = await stage.registered("q.sock", devices=["d1", "d2", "d3"])
        first.push()
        await stage.kubelet.wait_allocatable(RESOURCE, 2)
        second.push()
        await stage.kubelet.wait_allocatable(RESOURCE, 3)


@pytest.mark.parametrize("version", ["1.36", "1.37"])
@story
async def test_the_end_of_the_newer_one(directory: Path, version: str) -> None:
    """Item 19: the older one's stream runs on without an endpoint. Item 20: it is promoted."""
    async with Stage(directory, version) as stage:
        older = await stage.registered("p.sock", devices=["d0", "d1"])
        newer = await stage.registered("q.sock", devices=["e0", "e1", "e2"])
        await newer.stop()
        await stage.pause()
        assert older.streams == 1
        verdict = await stage.kubelet.admit("a", {RESOURCE: 1})
        if version == "1.37":
            # 8.3: it inherits the dead one's devices and is asked for ids it never announced.
            assert await stage.counts() == (3, 3)
            [request] = older.requests("Allocate")
            assert request.container_requests[0].devices_ids[0] in {"e0", "e1", "e2"}
        else:
            assert await stage.counts() == (3, 0)
            assert "no healthy devices present" in verdict.message
            older.push()
            await stage.kubelet.wait_allocatable(RESOURCE, 2)
            stopped = await stage.kubelet.admit("b", {RESOURCE: 1})
            assert stopped.message.endswith("has been stopped, which is unexpected")


@story
async def test_registering_again_on_a_connected_path_loses_the_good_client(directory: Path) -> None:
    """Item 20, 8.2: refused, and from then on the kubelet is blind to that path."""
    async with Stage(directory, "1.37") as stage:
        plugin = await stage.registered()
        with pytest.raises(RegisterFailed) as failure:
            await plugin.register()
        assert failure.value.text == f"device plugin already connected: {plugin.path}"
        assert plugin.streams == 1
        plugin.push(d0="Unhealthy")
        await stage.kubelet.wait_allocatable(RESOURCE, 3)
        await plugin.stop()
        await stage.pause()
        assert await stage.counts() == (4, 3)  # its end was not noticed
        refused = await stage.kubelet.admit("a", {RESOURCE: 1})
        assert refused.message.endswith(
            'rpc error: code = Unavailable desc = connection error: desc = "transport: Error while '
            f'dialing: dial unix {plugin.path}: connect: no such file or directory", '
            "which is unexpected"
        )
        await plugin.serve()
        with pytest.raises(RegisterFailed, match="already connected"):
            await plugin.register()
        await plugin.stop()
        await plugin.serve("p2.sock")
        await plugin.register()
        await stage.kubelet.wait_for(lambda: plugin.streams == 1)
        await plugin.stop()
        await stage.pause()
        assert await stage.counts() == (4, 3)  # the dead entry counts as a survivor


@pytest.mark.parametrize("version", BEFORE_1_37)
@story
async def test_registering_again_on_a_connected_path_is_a_second_connection(directory: Path, version: str) -> None:
    """Item 19, table of section 8."""
    async with Stage(directory, version) as stage:
        plugin = await stage.registered()
        await plugin.register()
        await stage.kubelet.wait_for(lambda: plugin.streams == 2)


@pytest.mark.parametrize("version", ["1.36", "1.37"])
@story
async def test_a_server_that_takes_over_a_live_path(directory: Path, version: str) -> None:
    """Items 19, 20, 8.2: one path for each server, or this happens in a rollout."""
    async with Stage(directory, version) as stage:
        await stage.registered()
        new = await stage.serving()
        if version == "1.37":
            with pytest.raises(RegisterFailed, match="already connected"):
                await new.register()
        else:
            await new.register()
            await stage.kubelet.wait_for(lambda: new.streams == 1)


@pytest.mark.parametrize("version", ["1.36", "1.37"])
@story
async def test_a_quick_stop_and_start_on_one_path_is_fine(directory: Path, version: str) -> None:
    """8.2: once the end was seen."""
    async with Stage(directory, version) as stage:
        plugin = await stage.registered()
        for _ in range(3):
            await plugin.stop()
            await stage.kubelet.wait_allocatable(RESOURCE, 0)
            await plugin.serve()
            await plugin.register()
            await stage.kubelet.wait_allocatable(RESOURCE, 4)


@story
async def test_a_failing_second_register_blinds_the_kubelet_up_to_1_36(directory: Path) -> None:
    """4.2: it takes the good client's entry with it; the loss of the good one goes unnoticed."""
    async with Stage(directory, "1.36") as stage:
        good = await stage.registered()
        bad = await stage.serving("q.sock")
        bad.scripts["GetDevicePluginOptions"] = failing(grpc.StatusCode.INTERNAL, "no")
        with pytest.raises(RegisterFailed):
            await bad.register()
        await good.stop()
        await stage.pause()
        assert await stage.counts() == (4, 4)


@pytest.mark.parametrize("version", ["1.36", "1.37"])
@story
async def test_both_ways_at_once_are_two_registrations(directory: Path, version: str) -> None:
    """Items 19, 20: the classic one dies, the watcher's is cut off up to 1.36."""
    async with Stage(directory, version) as stage:
        watched = await stage.watched("w.sock")
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        classic = await stage.registered("c.sock")
        await stage.kubelet.wait_for(lambda: classic.streams == 1)
        await classic.stop()
        await stage.pause()
        assert await stage.counts() == ((4, 4) if version == "1.37" else (4, 0))
        assert watched.streams == 1  # up to 1.36: heard, but without an endpoint

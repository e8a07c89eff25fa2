"""Kubelet restarts and node reboots (facts/kubelet.md 4.3, 4.4, 8.10)."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.contract.kubelet_fake.stage import FAST, Stage, story
from tests.fakes.kubelet import Timing
from tests.fakes.plugin import RESOURCE, RegisterFailed, slow


@pytest.mark.parametrize("version", ["1.32", "1.34", "1.37"])
@story
async def test_a_start_removes_every_socket_in_device_plugins(directory: Path, version: str) -> None:
    """Item 22, 8.10: 1.32 removes other files, too; directories and the checkpoint stay."""
    async with Stage(directory, version) as stage:
        sockets = directory / "device-plugins"
        plugin = await stage.registered()
        # The list counts a moment before it is written down.
        await stage.kubelet.wait_for((sockets / "kubelet_internal_checkpoint").is_file)
        (sockets / "state.json").touch()
        (sockets / "sub").mkdir()
        (sockets / "link.sock").symlink_to(plugin.path)
        (sockets / "dangling").symlink_to("/nowhere")
        os.link(plugin.path, sockets / "hard.sock")
        await stage.serving("sub/s.sock")
        await stage.kubelet.restart()
        left = {path.name for path in sockets.iterdir()}
        stays = {"kubelet.sock", "kubelet_internal_checkpoint", "sub"}
        assert left == (stays if version == "1.32" else stays | {"state.json", "dangling"})
        assert [path.name for path in (sockets / "sub").iterdir()] == ["s.sock"]


@story
async def test_a_restart_cuts_the_streams_first_and_cleans_up_later(directory: Path) -> None:
    """Item 22: in between the old files are there and nobody answers."""
    async with Stage(directory, timing=Timing(clean_up_delay=0.2)) as stage:
        plugin = await stage.registered()
        sock = directory / "device-plugins" / "kubelet.sock"
        before = sock.stat()
        restarting = asyncio.create_task(stage.kubelet.restart(down_s=1.0))
        await stage.kubelet.wait_for(lambda: plugin.streams == 0)
        assert plugin.path.exists()
        assert sock.exists()
        with pytest.raises(RegisterFailed, match="UNAVAILABLE"):
            await plugin.register()
        await restarting
        assert not plugin.path.exists()
        after = sock.stat()
        assert (before.st_ino, before.st_ctime_ns) != (after.st_ino, after.st_ctime_ns)
        assert plugin.methods.count("ListAndWatch") == 1


@story
async def test_plugins_registry_is_kept_and_walked_again(directory: Path) -> None:
    """Item 22: such a plugin has nothing to do."""
    async with Stage(directory) as stage:
        plugin = await stage.watched()
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        await stage.kubelet.restart()
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        assert plugin.path.exists()
        assert plugin.methods.count("GetInfo") == 2


@story
async def test_capacity_is_zero_until_the_plugin_is_back(directory: Path) -> None:
    """Item 23: running pods are admitted without a call, with or without the plugin."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        await stage.kubelet.admit("a", {RESOURCE: 2})
        held = await stage.kubelet.devices("a")
        verdicts = await stage.kubelet.restart()
        assert verdicts["a"].admitted
        assert await stage.counts() == (0, 0)
        assert (await stage.kubelet.node()).capacity == {RESOURCE: 0}
        await plugin.stop()
        await plugin.serve("p2.sock")
        await plugin.register()
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        assert await stage.kubelet.devices("a") == held
        assert len(plugin.requests("Allocate")) == 1
        too_many = await stage.kubelet.admit("b", {RESOURCE: 3})
        assert "Requested: 3, Available: 2" in too_many.message


@story
async def test_after_a_reboot_a_late_plugin_costs_the_pods(directory: Path) -> None:
    """Item 24: the resource is known from the checkpoint, its devices are not."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        await stage.kubelet.admit("a", {RESOURCE: 2})
        await plugin.stop()
        verdicts = await stage.kubelet.restart(containers_gone=True)
        assert not verdicts["a"].admitted
        assert verdicts["a"].reason == "UnexpectedAdmissionError"
        assert verdicts["a"].message == (
            "Allocate failed due to no healthy devices present; "
            f"cannot allocate unhealthy devices {RESOURCE}, which is unexpected"
        )
        [pod] = await stage.kubelet.pods()
        assert pod.rejected


@story
async def test_after_a_reboot_a_forgotten_resource_is_unregistered(directory: Path) -> None:
    """Item 24: its grace was over before."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        await stage.kubelet.admit("a", {RESOURCE: 2})
        await plugin.stop()
        await stage.kubelet.wait_allocatable(RESOURCE, 0)
        await stage.kubelet.expire(RESOURCE)
        await stage.kubelet.capacity()
        verdicts = await stage.kubelet.restart(containers_gone=True)
        assert verdicts["a"].message == (
            f"Allocate failed due to cannot allocate unregistered device {RESOURCE}, which is unexpected"
        )


@story
async def test_after_a_reboot_a_sick_device_costs_its_pod(directory: Path) -> None:
    """Item 24."""
    async with Stage(directory) as stage:
        plugin = await stage.registered(preferred=True)
        await stage.kubelet.admit("a", {RESOURCE: 2})
        await plugin.stop()
        await stage.kubelet.restart(containers_gone=True, no_readmit=True)
        plugin.push(d0="Unhealthy")
        await plugin.serve("p2.sock")
        await plugin.register()
        await stage.kubelet.wait_allocatable(RESOURCE, 3)
        verdicts = await stage.kubelet.readmit()
        assert verdicts["a"].message == (
            "Allocate failed due to previously allocated devices are no longer healthy; "
            f"cannot allocate unhealthy devices {RESOURCE}, which is unexpected"
        )


@story
async def test_after_a_reboot_the_old_answer_is_used_again(directory: Path) -> None:
    """Item 24: a plugin that is there first is not asked."""
    async with Stage(directory) as stage:
        plugin = await stage.registered(preferred=True)
        await stage.kubelet.admit("a", {RESOURCE: 2})
        await plugin.stop()
        await stage.kubelet.restart(containers_gone=True, no_readmit=True)
        await plugin.serve("p2.sock")
        await plugin.register()
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        verdicts = await stage.kubelet.readmit()
        assert verdicts["a"].admitted
        assert len(plugin.requests("Allocate")) == 1
        started = await stage.kubelet.start("a", "c0")
        assert started.env == {"DEVS": "d0,d1"}
        assert started.cdi == ("ex.com/dev=d0", "ex.com/dev=d1")


@story
async def test_a_restart_in_the_middle_of_a_register(directory: Path) -> None:
    """Item 26: the call breaks, and nothing of it is left."""
    async with Stage(directory) as stage:
        plugin = await stage.serving()
        plugin.scripts["GetDevicePluginOptions"] = slow(0.5)
        registering = asyncio.create_task(plugin.register())
        await stage.kubelet.wait_for(lambda: bool(plugin.seen))
        await stage.kubelet.restart()
        with pytest.raises(RegisterFailed, match="UNAVAILABLE"):
            await registering
        await stage.pause(6)
        assert await stage.counts() == (None, None)
        assert not plugin.path.exists()
        assert "ListAndWatch" not in plugin.methods


@story
async def test_a_directory_without_a_visible_file_looks_like_a_new_node(directory: Path) -> None:
    """4.5: any file of a plugin's prevents that."""
    async with Stage(directory, timing=FAST) as stage:
        assert (await stage.kubelet.status())["reset_extended_resources"] is True
        await stage.kubelet.restart()
        assert (await stage.kubelet.status())["reset_extended_resources"] is False

"""Classic registration: Register on kubelet.sock (facts/kubelet.md 3.1, 3.4, 3.5)."""

import asyncio
import socket
import time
from pathlib import Path

import grpc
import pytest

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as dp
from tests.contract.kubelet_fake.stage import FAST, REAL, Stage, story
from tests.fakes.kubelet import Timing
from tests.fakes.plugin import RESOURCE, RegisterFailed, failing, slow


@story
async def test_register_fails_for_a_plugin_that_serves_only_afterwards(directory: Path) -> None:
    """Item 1: the dial is within the call and goes on until its time is over."""
    async with Stage(directory) as stage:
        plugin = stage.script()
        plugin.path = directory / "device-plugins" / "late.sock"
        began = time.monotonic()
        with pytest.raises(RegisterFailed) as failure:
            await plugin.register()
        assert time.monotonic() - began >= (9.9 if REAL else FAST.dial)
        assert failure.value.code is grpc.StatusCode.UNKNOWN
        assert failure.value.text == "failed to dial device plugin: context deadline exceeded"
        await plugin.serve("late.sock")
        await stage.pause()
        assert plugin.seen == []


@story
async def test_register_waits_for_a_plugin_that_serves_a_little_late(directory: Path) -> None:
    """Item 1: a missing socket is tried again for as long as the dial lasts."""
    async with Stage(directory) as stage:
        plugin = stage.script()
        plugin.path = directory / "device-plugins" / "p.sock"
        registering = asyncio.create_task(plugin.register())
        await asyncio.sleep(0.2)
        assert not registering.done()
        await plugin.serve()
        await registering
        await stage.kubelet.wait_allocatable(RESOURCE, 4)


@story
async def test_register_returns_only_after_the_options_came(directory: Path) -> None:
    """Item 1: options are asked for within the call, the list afterwards."""
    async with Stage(directory) as stage:
        plugin = await stage.serving()
        plugin.scripts["GetDevicePluginOptions"] = slow(0.3)
        began = time.monotonic()
        await plugin.register()
        assert time.monotonic() - began >= 0.3
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        assert plugin.methods == ["GetDevicePluginOptions", "ListAndWatch"]


@pytest.mark.parametrize("version", ["1.34", "1.37"])
@story
async def test_register_given_up_by_the_plugin_is_finished_up_to_1_34(directory: Path, version: str) -> None:
    """Item 1, table of section 6: contexts are followed from 1.35 on."""
    async with Stage(directory, version) as stage:
        plugin = await stage.serving()
        plugin.scripts["GetDevicePluginOptions"] = slow(0.3)
        with pytest.raises(RegisterFailed):
            await plugin.register(within=0.1)
        await stage.pause(6)
        assert await stage.counts() == ((4, 4) if version == "1.34" else (None, None))


BAD_NAMES = [
    "dev",
    "kubernetes.io/x",
    "x.kubernetes.io/y",
    "my-kubernetes.io/x",
    "requests.x/y",
    "Ex.com/y",
    "a/b/c",
    "ex.com/",
    "/y",
    "ex.com/y-",
    "ex.com/-y",
    "ex.com/a b",
    "-ex.com/y",
    "ex_com/y",
    "ex..com/y",
    "ex.com/" + "n" * 64,
    "a." * 122 + "a/y",  # a domain of 245 characters
]

GOOD_NAMES = [
    "ex.com/" + "n" * 63,
    "a." * 121 + "ab/y",  # 244
    "ex.com/Y_1.z-Z",
    "ex/1",
]


@story
async def test_bad_names_and_versions_are_refused_with_kubelets_words(directory: Path) -> None:
    """Item 2."""
    async with Stage(directory) as stage:
        plugin = await stage.serving()
        for name in BAD_NAMES:
            with pytest.raises(RegisterFailed) as failure:
                await plugin.register(resource_name=name)
            assert failure.value.code is grpc.StatusCode.UNKNOWN, name
            assert failure.value.text == f'the ResourceName "{name}" is invalid'
        with pytest.raises(RegisterFailed) as failure:
            await plugin.register(version="v1")
        assert failure.value.code is grpc.StatusCode.UNKNOWN
        assert failure.value.text == (
            'requested API version "v1" is not supported by kubelet. Supported version is ["v1beta1"]'
        )
        assert plugin.seen == []
        for number, name in enumerate(GOOD_NAMES):
            good = await stage.serving(f"good{number}.sock", resource=name)
            await good.register()


@story
async def test_options_in_the_request_are_not_looked_at(directory: Path) -> None:
    """Item 3: only GetDevicePluginOptions counts."""
    async with Stage(directory) as stage:
        plugin = await stage.serving()
        await plugin.register(
            options=dp.DevicePluginOptions(pre_start_required=True, get_preferred_allocation_available=True)
        )
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        assert (await stage.kubelet.admit("a", {RESOURCE: 1})).admitted
        assert plugin.methods == ["GetDevicePluginOptions", "ListAndWatch", "Allocate"]


@story
async def test_a_plugin_without_options_is_not_asked_for_its_list(directory: Path) -> None:
    """Item 4."""
    async with Stage(directory) as stage:
        plugin = await stage.serving()
        internal = failing(grpc.StatusCode.INTERNAL, "no options")
        plugin.scripts["GetDevicePluginOptions"] = internal
        with pytest.raises(RegisterFailed) as failure:
            await plugin.register()
        assert failure.value.text == (
            "failed to get device plugin options: rpc error: code = Internal desc = no options"
        )
        await stage.pause()
        assert plugin.methods == ["GetDevicePluginOptions"]
        assert await stage.counts() == (None, None)


@story
async def test_the_endpoint_is_glued_below_device_plugins(directory: Path) -> None:
    """Item 5: an absolute path, too, and dots are resolved."""
    async with Stage(directory) as stage:
        plugin = await stage.serving()
        await plugin.register(endpoint="/p.sock")
        other = await stage.serving("q.sock", resource="ex.com/other")
        await other.register(endpoint="sub/../q.sock", resource_name="ex.com/other")
        await stage.kubelet.wait_allocatable("ex.com/other", 4)


@story
async def test_kubelet_sock_is_there_before_it_accepts(directory: Path) -> None:
    """Item 6: whoever connects as soon as the file is there is refused, and has to try again."""
    timing = Timing(accept_delay=0.3)
    async with Stage(directory, timing=timing, fake_only=True) as stage:
        await stage.kubelet.kill()
        stage.kubelet.kubelet_socket.unlink()
        booting = asyncio.create_task(stage.kubelet.boot())
        await stage.kubelet.wait_for(stage.kubelet.kubelet_socket.exists)
        inode = stage.kubelet.kubelet_socket.stat().st_ino
        with socket.socket(socket.AF_UNIX) as early, pytest.raises(ConnectionRefusedError):
            early.connect(str(stage.kubelet.kubelet_socket))
        await booting
        with socket.socket(socket.AF_UNIX) as later:
            later.connect(str(stage.kubelet.kubelet_socket))
        assert stage.kubelet.kubelet_socket.stat().st_ino == inode


@story
async def test_every_call_is_in_the_journal(directory: Path) -> None:
    """The spies: method, resource, socket and argument, in order."""
    async with Stage(directory, fake_only=True) as stage:
        plugin = await stage.registered()
        calls = stage.kubelet.calls
        assert [call.method for call in calls] == [
            "Register",
            "GetDevicePluginOptions",
            "ListAndWatch",
        ]
        assert {call.resource for call in calls} == {RESOURCE}
        assert {call.socket for call in calls} == {plugin.path}
        assert [call.at for call in calls] == sorted(call.at for call in calls)
        [message] = stage.kubelet.messages(RESOURCE)
        assert message.health == dict.fromkeys(["d0", "d1", "d2", "d3"], "Healthy")

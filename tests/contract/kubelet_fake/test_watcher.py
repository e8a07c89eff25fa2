"""Registration by a socket in plugins_registry (facts/kubelet.md 3.2, 8.11)."""

import asyncio
import contextlib
import itertools
import time
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.contract.kubelet_fake.stage import REAL, Stage, story
from tests.fakes.kubelet import Timing
from tests.fakes.plugin import RESOURCE, ScriptedPlugin, failing, slow

INVALID = "RegisterPlugin error -- plugin validation failed with err: "


def notified(plugin: ScriptedPlugin) -> list[tuple[bool, str]]:
    """What the plugin was told."""
    statuses = plugin.requests("NotifyRegistrationStatus")
    return [(status.plugin_registered, status.error) for status in statuses]


@story
async def test_a_plugin_is_found_asked_connected_and_told(directory: Path) -> None:
    """Items 7, 8, 9: GetInfo has 1 s, Notify 5 s, the rest no deadline; all on one socket."""
    async with Stage(directory, timing=Timing(reconcile=0.05)) as stage:
        plugin = await stage.watched()
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        await stage.kubelet.wait_for(lambda: len(plugin.seen) == 4)
        assert plugin.methods[:2] == ["GetInfo", "GetDevicePluginOptions"]
        assert sorted(plugin.methods[2:]) == ["ListAndWatch", "NotifyRegistrationStatus"]
        deadlines = {seen.method: seen.deadline for seen in plugin.seen}
        assert deadlines["GetInfo"] == pytest.approx(1.0, abs=0.2)
        assert deadlines["NotifyRegistrationStatus"] == pytest.approx(5.0, abs=0.2)
        assert deadlines["GetDevicePluginOptions"] is None
        assert deadlines["ListAndWatch"] is None
        assert notified(plugin) == [(True, "")]


@story
async def test_the_authority_is_the_percent_encoded_path(directory: Path) -> None:
    """Item 8: a server that insists on a host name as :authority cannot be registered."""
    heard = bytearray()
    async with Stage(directory, fake_only=True) as stage:

        async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            # Settings enough for the client to go on and send its first request.
            writer.write(b"\0\0\0\4\0\0\0\0\0")
            with contextlib.closing(writer):
                while b"GetInfo" not in heard:
                    heard.extend(await reader.read(4096))

        path = directory / "plugins_registry" / "raw.sock"
        server = await asyncio.start_unix_server(listen, path)
        async with server:
            await stage.kubelet.wait_for(lambda: b"GetInfo" in heard)
        assert authority_of(bytes(heard)) == str(path).replace("/", "%2F")


@story
async def test_sockets_that_were_there_before_the_kubelet_are_found(directory: Path) -> None:
    """Item 7: the walk at the start is recursive and passes over dot names and plain files."""
    async with Stage(directory) as stage:
        registry = directory / "plugins_registry"
        for below in ("sub", "sub/deep", ".hidden"):
            (registry / below).mkdir()
        (registry / "plain.sock").touch()
        await stage.kubelet.restart()
        names = ("sub/deep/s.sock", ".hidden/s.sock", ".dot.sock")
        plugins = [await stage.watched(name, resource=f"ex.com/r{number}") for number, name in enumerate(names)]
        await stage.kubelet.restart()
        await stage.kubelet.wait_allocatable("ex.com/r0", 4)
        await stage.kubelet.wait_allocatable("ex.com/r1", 4)
        await stage.pause()
        assert plugins[2].seen == []


@story
async def test_what_appears_later_is_found_unless_its_name_has_a_dot(directory: Path) -> None:
    """Item 7, 8.11: new directories, renames into place and links; a dot-named directory is not."""
    async with Stage(directory) as stage:
        registry = directory / "plugins_registry"
        (registry / "sub").mkdir()
        (registry / ".hidden").mkdir()
        await asyncio.sleep(0.2)
        await stage.watched("sub/s.sock", resource="ex.com/sub")
        hidden = [
            await stage.watched(".hidden/s.sock", resource="ex.com/hidden"),
            await stage.watched(".dot.sock", resource="ex.com/dot"),
        ]
        outside = await stage.watched("../tmp.sock", resource="ex.com/renamed")
        linked = await stage.watched("../away.sock", resource="ex.com/linked")
        outside.path.rename(registry / "in.sock")
        (registry / "link.sock").symlink_to(directory / "away.sock")
        for resource in ("ex.com/sub", "ex.com/renamed", "ex.com/linked"):
            await stage.kubelet.wait_allocatable(resource, 4)
        await stage.pause()
        assert [plugin.seen for plugin in hidden] == [[], []]
        assert linked.streams == 1


@story
async def test_a_rename_away_is_not_noticed(directory: Path) -> None:
    """Item 7."""
    async with Stage(directory) as stage:
        plugin = await stage.watched()
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        plugin.path.rename(directory / "gone.sock")
        await stage.pause()
        assert await stage.counts() == (4, 4)
        assert plugin.streams == 1


@story
async def test_a_slow_get_info_is_asked_again(directory: Path) -> None:
    """Item 8: the deadline ends the try, and the plugin is told nothing."""
    async with Stage(directory) as stage:
        plugin = stage.script()
        late = slow(3.0)
        plugin.scripts["GetInfo"] = late
        await plugin.serve("p.sock", watcher=True)
        await stage.kubelet.wait_for(lambda: len(plugin.requests("GetInfo")) == 2)
        del plugin.scripts["GetInfo"]
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        assert notified(plugin)[0] == (True, "")


@story
async def test_a_non_empty_endpoint_is_opened_as_it_stands(directory: Path) -> None:
    """Item 9: it is a path in the kubelet's eyes, joined to nothing."""
    async with Stage(directory) as stage:
        service = await stage.serving("service.sock")
        front = stage.script()
        front.info.endpoint = str(service.path)
        await front.serve("p.sock", watcher=True)
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        assert service.methods == ["GetDevicePluginOptions", "ListAndWatch"]
        relative = stage.script("ex.com/relative")
        relative.info.endpoint = "service.sock"
        await relative.serve("r.sock", watcher=True)
        await stage.kubelet.wait_for(lambda: len(notified(relative)) == 1)
        [(registered, error)] = notified(relative)
        assert not registered
        assert error.endswith("failed to dial device plugin: context deadline exceeded")


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        (
            "name",
            "kubernetes.io/bad",
            INVALID + 'invalid name of device plugin socket: the ResourceName "kubernetes.io/bad" is invalid',
        ),
        (
            "supported_versions",
            ["v1", "v2"],
            INVALID + "manager version, v1beta1, is not among plugin supported versions [v1 v2]",
        ),
        (
            "type",
            "CSIPlugin",
            "RegisterPlugin error -- no handler registered for plugin type: CSIPlugin at socket ",
        ),
    ],
)
@story
async def test_what_cannot_be_valid_is_told_and_tried_again(
    directory: Path, field: str, value: str | list[str], text: str
) -> None:
    """Item 10: with pauses that double, in every version."""
    async with Stage(directory) as stage:
        plugin = stage.script()
        if isinstance(value, str):
            setattr(plugin.info, field, value)
        else:
            plugin.info.supported_versions[:] = value
        await plugin.serve("p.sock", watcher=True)
        await stage.kubelet.wait_for(lambda: len(notified(plugin)) == 3)
        assert set(plugin.methods) == {"GetInfo", "NotifyRegistrationStatus"}
        registered, error = notified(plugin)[0]
        assert not registered
        assert error.startswith(text)


@story
async def test_the_pauses_double_up_to_a_limit(directory: Path) -> None:
    """Item 10: 0.5 s doubling to 122 s, here a tenth of it with another limit, and never below it."""
    timing = Timing(reconcile=0.005, backoff_first=0.05, backoff_most=0.3)
    least = (0.5, 1.0, 2.0) if REAL else (0.05, 0.1, 0.2, 0.3, 0.3)
    at: list[float] = []

    async def note(request: Any, context: Any) -> None:
        at.append(time.monotonic())

    async with Stage(directory, timing=timing) as stage:
        plugin = stage.script()
        plugin.info.name = "bad"
        plugin.scripts["GetInfo"] = note
        await plugin.serve("p.sock", watcher=True)
        await stage.kubelet.wait_for(lambda: len(at) > len(least), 60)
        pauses = [later - earlier for earlier, later in itertools.pairwise(at)]
        late = 2.5 if REAL else 0.15  # the real one looks every second
        for pause, shortest in zip(pauses, least, strict=False):
            assert shortest * 0.98 <= pause < shortest + late


@pytest.mark.parametrize("version", ["1.35", "1.36", "1.37"])
@story
async def test_a_failed_registration_is_tried_again_from_1_36_on(directory: Path, version: str) -> None:
    """Item 11: before, only a new socket file helps."""
    async with Stage(directory, version) as stage:
        plugin = stage.script()
        internal = failing(grpc.StatusCode.INTERNAL, "not yet", times=2)
        plugin.scripts["GetDevicePluginOptions"] = internal
        await plugin.serve("p.sock", watcher=True)
        if version == "1.35":
            await stage.kubelet.wait_for(lambda: len(notified(plugin)) == 1)
            await stage.pause(8)
            assert plugin.methods.count("GetInfo") == 1
            await plugin.stop()
            del plugin.scripts["GetDevicePluginOptions"]
            await stage.pause(5)
            await plugin.serve("p.sock", watcher=True)
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        registered, error = notified(plugin)[0]
        assert not registered
        assert error == (
            "RegisterPlugin error -- plugin registration failed with err: failed to get device "
            "plugin options: rpc error: code = Internal desc = not yet"
        )


@pytest.mark.parametrize("version", ["1.35", "1.36", "1.37"])
@pytest.mark.parametrize("how", ["raises", "hangs"])
@story
async def test_a_plugin_that_cannot_be_told_is_put_out_from_1_36_on(directory: Path, version: str, how: str) -> None:
    """Item 11: before, it stays registered."""
    async with Stage(directory, version) as stage:
        plugin = stage.script()
        internal = failing(grpc.StatusCode.INTERNAL, "no", times=2)
        plugin.scripts["NotifyRegistrationStatus"] = slow(8.0) if how == "hangs" else internal
        await plugin.serve("p.sock", watcher=True)
        await stage.kubelet.wait_for(lambda: len(notified(plugin)) == 1)
        if version == "1.35":
            await stage.pause(8)
            assert await stage.counts() == (4, 4)
            assert plugin.methods.count("GetInfo") == 1
        else:
            await stage.kubelet.wait_for(lambda: len(notified(plugin)) == 2)
            assert (await stage.counts())[1] in {None, 0, 4}
            plugin.scripts.clear()
            await stage.kubelet.wait_for(lambda: len(notified(plugin)) == 3)
            await stage.kubelet.wait_allocatable(RESOURCE, 4)
            await stage.kubelet.wait_for(lambda: plugin.streams == 1)


@story
async def test_unlinking_the_socket_disconnects(directory: Path) -> None:
    """Item 12: within a reconcile, though the server lives."""
    async with Stage(directory) as stage:
        plugin = await stage.watched()
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        plugin.path.unlink()
        await stage.kubelet.wait_allocatable(RESOURCE, 0)
        await stage.kubelet.wait_for(lambda: plugin.streams == 0)
        assert await stage.counts() == (4, 0)


@story
async def test_a_socket_made_anew_is_unregistered_and_registered(directory: Path) -> None:
    """Item 12: even if the kubelet never saw it missing."""
    async with Stage(directory) as stage:
        old = await stage.watched()
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        new = await stage.watched(devices=["e0"])  # takes the path over, the old one lives
        await stage.kubelet.wait_allocatable(RESOURCE, 1)
        assert old.streams == 0
        assert new.streams == 1


@story
async def test_a_socket_renamed_over_another_is_a_new_one(directory: Path) -> None:
    """Item 12: no unlink is seen, and yet the old registration ends."""
    async with Stage(directory) as stage:
        old = await stage.watched()
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        new = await stage.watched("../new.sock", devices=["e0"])
        new.path.rename(old.path)
        await stage.kubelet.wait_allocatable(RESOURCE, 1)
        assert old.streams == 0
        assert new.streams == 1


@story
async def test_a_lost_stream_is_never_looked_after(directory: Path) -> None:
    """Item 13: as long as the socket file stays there is no other GetInfo."""
    async with Stage(directory) as stage:
        plugin = await stage.watched()
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        await plugin.end_streams()
        await stage.kubelet.wait_allocatable(RESOURCE, 0)
        seen = list(plugin.seen)
        await stage.pause(5)
        assert plugin.seen == seen
        name = plugin.path.name
        await plugin.stop()
        await plugin.serve(name, watcher=True)
        await stage.kubelet.wait_allocatable(RESOURCE, 4)


@story
async def test_without_a_watcher_plugins_registry_is_left_alone(directory: Path) -> None:
    """A kubelet for tests of the classic way only."""
    async with Stage(directory, watcher=False):
        assert not (directory / "plugins_registry").exists()


def authority_of(frames: bytes) -> str:
    """The path as it stands in the header block; grpcio does not Huffman-code it, grpc-go does."""
    start = frames.index(b"%2F")
    return frames[start : frames.index(b".sock", start) + len(b".sock")].decode()

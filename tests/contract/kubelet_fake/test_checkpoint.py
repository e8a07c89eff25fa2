"""The checkpoint file (facts/kubelet.md 4.5)."""

import base64
import json
from pathlib import Path
from typing import Any

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as dp
from tests.contract.kubelet_fake.stage import Stage, story
from tests.fakes.plugin import RESOURCE, device

NAME = "kubelet_internal_checkpoint"


def content(directory: Path) -> dict[str, Any]:
    document = json.loads((directory / "device-plugins" / NAME).read_text())
    assert isinstance(document["Checksum"], int)
    data: dict[str, Any] = document["Data"]
    return data


def listed(directory: Path) -> bool:
    """Whether the list was written down; it counts a moment before."""
    file = directory / "device-plugins" / NAME
    return file.is_file() and RESOURCE in content(directory)["RegisteredDevices"]


@story
async def test_every_message_rewrites_the_file(directory: Path) -> None:
    """Item 44: one that says nothing new, too."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        await stage.kubelet.wait_for(lambda: listed(directory))
        path = directory / "device-plugins" / NAME
        before = path.stat()

        def rewritten() -> bool:
            after = path.stat()
            return (after.st_ino, after.st_mtime_ns) != (before.st_ino, before.st_mtime_ns)

        await stage.pause()
        assert not rewritten()
        plugin.push()
        await stage.kubelet.wait_for(rewritten)


@story
async def test_an_allocation_is_written_with_its_answer(directory: Path) -> None:
    """Item 44."""
    devices = [device("d0", numa=[1]), device("d1", "Unhealthy", [0])]
    async with Stage(directory) as stage:
        await stage.registered(devices=devices)
        await stage.kubelet.wait_for(lambda: listed(directory))
        assert content(directory)["PodDeviceEntries"] is None
        await stage.kubelet.admit("a", {RESOURCE: 1})
        data = content(directory)
        assert data["RegisteredDevices"] == {RESOURCE: ["d0"]}
        [entry] = data["PodDeviceEntries"]
        answer = dp.ContainerAllocateResponse.FromString(base64.b64decode(entry.pop("AllocResp")))
        assert answer.envs == {"DEVS": "d0"}
        assert entry == {
            "PodUID": "a",
            "ContainerName": "c0",
            "ResourceName": RESOURCE,
            "DeviceIDs": {"1": ["d0"]},
        }


@story
async def test_no_other_file_is_made_in_the_directory(directory: Path) -> None:
    """Item 44."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        await stage.kubelet.admit("a", {RESOURCE: 1})
        names = {path.name for path in (directory / "device-plugins").iterdir()}
        assert names == {"kubelet.sock", NAME, plugin.path.name}


@story
async def test_a_broken_file_is_survived(directory: Path) -> None:
    """4.5: the kubelet goes on without it."""
    async with Stage(directory) as stage:
        await stage.registered()
        await stage.kubelet.wait_for(lambda: listed(directory))
        (directory / "device-plugins" / NAME).write_text("{")
        await stage.kubelet.restart()
        assert await stage.counts() == (None, None)

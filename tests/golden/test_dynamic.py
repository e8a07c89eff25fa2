"""Recorded changes of a real kernel's host, replayed under the running daemon."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import grpc
import pytest

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub
from tests.daemon.process import DaemonProcess, daemon
from tests.fakes.kubelet import FakeKubelet, Timing
from tests.golden.case import HERE
from tests.hosts.case import case_layout
from tests.hosts.ground import temporary_directory
from tests.hosts.tree import Tree

VFS: Final = "intel.com/vfs"
NICS: Final = "intel.com/nics"
VF_IDS: Final = [f"0000:01:10.{function}" for function in (0, 2, 4, 6)]
LOG: Final = "log of the daemon:\n"
WITHIN: Final = 60.0


@dataclass(frozen=True, slots=True)
class Scene:
    """A daemon that serves the host of a case as it was, and the step that changes it."""

    case: dict[str, Any]
    tree: Tree
    kubelet: FakeKubelet
    process: DaemonProcess

    def step(self) -> None:
        before, after = (case_layout(self.case[key]) for key in ("host", "host_after"))
        after.replace(before, self.tree)

    def step_back(self) -> None:
        before, after = (case_layout(self.case[key]) for key in ("host", "host_after"))
        before.replace(after, self.tree)

    def health(self, resource: str) -> dict[str, str]:
        return self.kubelet.messages(resource)[-1].health

    async def until(self, condition: Callable[[], bool]) -> None:
        await self.kubelet.wait_for(condition, WITHIN)

    async def refusal(self, resource: str, device: str) -> str:
        """What Allocate says to a device that must not be handed out."""
        socket = self.kubelet.calls_of("ListAndWatch", resource)[-1].socket
        request = pb.AllocateRequest(container_requests=[pb.ContainerAllocateRequest(devices_ids=[device])])
        async with grpc.aio.insecure_channel(f"unix:{socket}") as channel:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await DevicePluginStub(channel).Allocate(request, timeout=WITHIN)
        return caught.value.details() or ""


async def numvfs_changed(scene: Scene) -> None:
    """Cases B01, B03, D13: the first two VFs stay, the others go, the other PF is no device any more."""
    scene.step()
    await scene.until(lambda: scene.health(VFS) == dict.fromkeys(VF_IDS[:2], "Healthy"))
    await scene.until(lambda: scene.health(NICS).get("0000:02:00.0") != "Healthy")
    assert VF_IDS[3] in await scene.refusal(VFS, VF_IDS[3])
    assert "0000:02:00.0" in await scene.refusal(NICS, "0000:02:00.0")


async def link_down(scene: Scene) -> None:
    """Cases C01, C04: one update, by the PF's carrier; the VFs' own netdevs say up all the time."""
    scene.step()
    await scene.until(lambda: scene.health(VFS) == dict.fromkeys(VF_IDS, "Unhealthy"))
    assert len(scene.kubelet.messages(VFS)) == 2
    assert "no carrier on enp1s0" in await scene.refusal(VFS, VF_IDS[0])
    scene.step_back()
    await scene.until(lambda: scene.health(VFS) == dict.fromkeys(VF_IDS, "Healthy"))
    assert len(scene.kubelet.messages(VFS)) == 3
    assert len(scene.kubelet.messages(NICS)) == 1


async def unplugged(scene: Scene) -> None:
    """Cases C01, E03: held by a pod they stay, Unhealthy, and are Healthy again when they are back."""
    assert (await scene.kubelet.admit("pod", {VFS: 4})).admitted
    scene.step()
    await scene.until(lambda: scene.health(VFS) == dict.fromkeys(VF_IDS, "Unhealthy"))
    assert VF_IDS[0] in await scene.refusal(VFS, VF_IDS[0])
    scene.step_back()
    await scene.until(lambda: scene.health(VFS) == dict.fromkeys(VF_IDS, "Healthy"))
    assert len(scene.kubelet.messages(NICS)) == 1


async def unplugged_while_free(scene: Scene) -> None:
    """Case C01: nobody misses them."""
    scene.step()
    await scene.until(lambda: scene.health(VFS) == {})
    assert VF_IDS[0] in await scene.refusal(VFS, VF_IDS[0])
    scene.step_back()
    await scene.until(lambda: scene.health(VFS) == dict.fromkeys(VF_IDS, "Healthy"))


@pytest.mark.parametrize(
    ("name", "reaction", "policy"),
    [
        ("guest_numvfs_changed", numvfs_changed, {}),
        ("guest_pf_link_down", link_down, {"health": "link", "holdDown": 0.1, "holdUp": 0.1}),
        ("guest_pf_unplugged", unplugged, {}),
        ("guest_pf_unplugged", unplugged_while_free, {}),
    ],
)
def test_the_daemon_reacts_right_to_a_recorded_change(
    name: str, reaction: Callable[[Scene], Awaitable[None]], policy: dict[str, Any]
) -> None:
    case = json.loads((HERE / "dynamic" / f"{name}.json").read_text(encoding="utf-8"))
    case["config"]["resourceList"][0].update(policy)

    async def story() -> None:
        with temporary_directory() as directory:
            async with playing(case, directory) as scene:
                for resource, ids in case["first"].items():
                    await scene.kubelet.wait_registered(resource, WITHIN)
                    assert scene.health(resource) == dict.fromkeys(ids, "Healthy")
                await reaction(scene)
                assert scene.process.process.returncode is None
                assert len(scene.kubelet.calls_of("ListAndWatch")) == 2

    asyncio.run(story())


def test_every_recorded_change_is_replayed() -> None:
    assert {path.stem for path in (HERE / "dynamic").glob("*.json")} == {
        "guest_numvfs_changed",
        "guest_pf_link_down",
        "guest_pf_unplugged",
    }


@asynccontextmanager
async def playing(case: dict[str, Any], directory: Path) -> AsyncIterator[Scene]:
    tree = case_layout(case["host"]).lay(directory / "h")
    config = directory / "config.json"
    config.write_text(json.dumps(case["config"]), encoding="utf-8")
    flags = [
        f"--config-file={config}",
        f"--resource-prefix={case['args']['resource_prefix']}",
        f"--root={tree.root}",
        f"--kubelet-dir={directory}",
        f"--devinfo-dir={directory / 'devinfo'}",
    ]
    kubelet = FakeKubelet(directory, timing=Timing(reconcile=0.05))
    async with kubelet, daemon(directory, *flags) as process:
        try:
            yield Scene(case, tree, kubelet, process)
        except BaseException as failure:
            failure.add_note(LOG + process.text)
            raise
        assert kubelet.panics == []
        assert "Traceback" not in process.text

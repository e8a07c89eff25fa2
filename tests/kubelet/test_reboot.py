"""A node reboots: no container is left, /run is empty, and the kubelet has its checkpoint."""

import asyncio
import shutil
import signal
from pathlib import Path

import pytest
import yaml

from tests.fakes.kubelet.reports import ContainerStart
from tests.fakes.kubelet_harness import KubeletHarness
from tests.golden.injected import injected
from tests.kubelet.scene import ALIGNED, DPDK, WHOLE, Node, held, node, until_allocatable


@pytest.mark.parametrize("cdi", [False, True], ids=["nodes", "cdi"])
def test_after_a_reboot_everything_is_there_before_a_pod_can_ask(
    binary: Path, way: str, policy: str, cdi: bool
) -> None:
    """The old answer is used verbatim, so what its names mean must be there when the devices are announced."""
    flags = ("--use-cdi",) if cdi else ()

    async def run() -> None:
        with node() as here:
            arguments = ALIGNED if policy != "none" else ()
            async with KubeletHarness(binary, here.directory, *arguments) as kubelet:
                async with here.daemon(way, *flags) as process:
                    await until_allocatable(kubelet, WHOLE)
                    started = (await kubelet.admit("pod", {DPDK: 2})).containers["c0"]
                    files = names(here)
                    assert len(files) == 16 + cdi
                    await process.stop(signal.SIGKILL)
                shutil.rmtree(here.directory / "run")
                await kubelet.restart(containers_gone=True, no_readmit=True)
                async with here.daemon(way, *flags) as process:
                    while not any((await kubelet.capacity()).device_manager.allocatable.values()):
                        await asyncio.sleep(0)
                    assert {name for name in files if "dpdk" in name} <= names(here)
                    await until_allocatable(kubelet, WHOLE)
                    assert names(here) == files
                    readmitted = await kubelet.readmit()
                    assert readmitted["pod"].admitted, readmitted
                    assert await kubelet.start("pod", "c0") == started
                    assert device_nodes(started, here) == 3
                    assert process.told("allocated") == []
                    assert len(held(await kubelet.devices(), DPDK)) == 2

    asyncio.run(run())


def names(here: Node) -> set[str]:
    """Files for the CNI side and for the container runtime."""
    return {file.name for place in (here.devinfo, here.cdi) if place.is_dir() for file in place.iterdir()}


def device_nodes(started: ContainerStart, here: Node) -> int:
    """How many nodes the container has, with those that its CDI names stand for now."""
    files = here.cdi.iterdir() if here.cdi.is_dir() else ()
    specs = {file.name: yaml.safe_load(file.read_text(encoding="utf-8")) for file in files}
    response = {"devices": [[d["host"]] for d in started.devices], "annotations": {}, "cdi_devices": started.cdi}
    return len(injected(response, specs))

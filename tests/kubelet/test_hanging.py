"""The host does not answer a read, as a device that is dead on its bus."""

import asyncio
import os
import time
from pathlib import Path
from typing import Final

from tests.fakes.kubelet_harness import KubeletHarness
from tests.kubelet.scene import DPDK, KERN, WHOLE, node, until_allocatable

TRIES: Final = 7
"""More than asyncio has threads of its own on a machine with two CPUs."""
SOON: Final = 5.0
LIMIT: Final = 10.0
"""Seconds of the daemon's own limit."""

#: Imported by the daemon's interpreter at its start. No file of a simulated host blocks: the daemon opens them so that
#: none does. So the call itself waits, as long as the file that is named here has a text that is in the path.
STAND_IN: Final = """
import os, pathlib, time

_open, _blocked = os.open, pathlib.Path(__file__).with_name("blocked")

def blocking(path, *rest, **more):
    while (text := _blocked.read_text()) and text in str(path):
        time.sleep(0.05)
    return _open(path, *rest, **more)

os.open = blocking
"""


def test_a_read_that_hangs_ends_by_our_own_limit_and_other_pools_answer(binary: Path, way: str) -> None:
    """Admission is serial and has no limit of its own: without ours the node would take no pod any more."""

    async def run() -> None:
        with node() as here:
            (here.directory / "sitecustomize.py").write_text(STAND_IN, encoding="utf-8")
            blocked = here.directory / "blocked"
            blocked.write_text("", encoding="utf-8")
            paths = f"{here.directory}:{os.environ.get('PYTHONPATH', '')}"
            async with (
                KubeletHarness(binary, here.directory) as kubelet,
                here.daemon(way, environment={"PYTHONPATH": paths}) as process,
            ):
                await until_allocatable(kubelet, WHOLE)
                blocked.write_text("/0000:3b:01.4/", encoding="utf-8")
                for number in range(TRIES):
                    took, message = await admitted(kubelet, f"hangs-{number}", {DPDK: 8})
                    assert "0000:3b:01.4" in message
                    assert "the host does not answer" in message
                    assert took < (SOON if number else LIMIT + SOON)
                    took, message = await admitted(kubelet, f"kern-{number}", {KERN: 1})
                    assert message == ""
                    assert took < SOON
                blocked.write_text("", encoding="utf-8")
                while (await admitted(kubelet, "well", {DPDK: 8}))[1]:
                    await asyncio.sleep(0.05)
                await kubelet.terminate("well")
                blocked.write_text("/0000:", encoding="utf-8")
                assert "the host does not answer" in (await admitted(kubelet, "again", {DPDK: 8}))[1]
                code, seconds = await process.stop()
                assert code == 0
                assert seconds < SOON

    asyncio.run(run())


async def admitted(kubelet: KubeletHarness, uid: str, requests: dict[str, int]) -> tuple[float, str]:
    """Seconds that the admission took, and why it was refused."""
    began = time.monotonic()
    verdict = await kubelet.admit(uid, requests)
    return time.monotonic() - began, verdict.message

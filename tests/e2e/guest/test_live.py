"""The host changes under the running daemon: after each change the kubelet holds what the kernel has."""

import asyncio
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.e2e.guest import changes, devinfo, kernel, kubelet_side, layout
from tests.e2e.guest.changes import Change, Lists
from tests.e2e.guest.daemon import Daemon
from tests.e2e.guest.qmp import Qmp
from tests.fakes.kubelet import FakeKubelet

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("_layout")]

WITHIN = 10.0
"""Seconds from the end of a change to the list at the kubelet; 2 on a real CPU."""


def test_the_kubelet_holds_what_the_kernel_has_after_each_change(
    tmp_path: Path, kubelet_directory: Path, devinfo_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by_link = {"health": "link", "holdDown": 0.1, "holdUp": 0.1}
    daemon = Daemon(tmp_path, kubelet_directory, devinfo_directory, layout.POOLS, keys={"dpdk": by_link})
    with Qmp() as qemu, changes.links_up(*kernel.pfs()[:2]):
        reactions = asyncio.run(_follow(daemon, changes.story(qemu)))
    with capsys.disabled():
        print("\nseconds from the end of a change to the list at the kubelet:")
        for told, seconds in reactions:
            print(f"  {seconds:5.2f}  {told}")


async def _follow(daemon: Daemon, story: Iterator[Change]) -> list[tuple[str, float]]:
    reactions = []
    async with kubelet_side.kubelet(daemon.kubelet, watcher=True) as kubelet:
        with daemon:
            await kubelet_side.wait_offered(kubelet, daemon, [*layout.expected()])
            for change in story:
                await asyncio.to_thread(change.make)
                reactions.append((change.told, await _reaction(kubelet, daemon, change)))
            offered = {resource: set(health) for resource, health in _held(kubelet).items()}
            # Files of what has gone follow the lists.
            await kubelet.wait_for(lambda: len(list(daemon.devinfo.iterdir())) == sum(map(len, offered.values())))
            devinfo.check(daemon.devinfo, offered)
            await asyncio.to_thread(daemon.stop)
        for resource in offered:
            for message, after in pairwise(kubelet.messages(resource)):
                assert message.devices != after.devices, f"{resource}: the same list twice"
    return reactions


async def _reaction(kubelet: FakeKubelet, daemon: Daemon, change: Change) -> float:
    """Seconds until the kubelet holds what it has to, 0.0 if it was faster than the change itself."""
    expected = change.expected()
    done = time.monotonic()
    try:
        await kubelet.wait_for(lambda: _held(kubelet) == expected, within=WITHIN)
    except TimeoutError:
        daemon.assert_runs()
        assert _held(kubelet) == expected, change.told
    last = max(kubelet.messages(resource)[-1].at for resource in expected)
    return max(0.0, last - done)


def _held(kubelet: FakeKubelet) -> Lists:
    return {resource: kubelet.messages(resource)[-1].health for resource in layout.expected()}

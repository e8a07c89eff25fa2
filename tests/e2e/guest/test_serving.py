"""From registration to SIGTERM: what the kubelet holds is what the kernel has."""

import asyncio
from pathlib import Path

import pytest

from tests.e2e.guest import container, devinfo, kubelet_side, layout
from tests.e2e.guest.daemon import Daemon
from tests.fakes.kubelet import FakeKubelet

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("_layout")]


@pytest.mark.parametrize("registration", ["watcher", "classic"])
def test_kubelet_holds_and_containers_get_what_the_kernel_has(
    registration: str,
    tmp_path: Path,
    kubelet_directory: Path,
    devinfo_directory: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    daemon = Daemon(tmp_path, kubelet_directory, devinfo_directory, layout.POOLS, registration)
    seconds = asyncio.run(_serve(daemon))
    with capsys.disabled():
        print(f"\n{registration}: {seconds:.2f} s from SIGTERM to exit")
    assert seconds < 10  # 2 on a real CPU


async def _serve(daemon: Daemon) -> float:
    by_watcher = daemon.registration == "watcher"
    async with kubelet_side.kubelet(daemon.kubelet, watcher=by_watcher) as kubelet:
        before = kubelet_side.files(daemon.kubelet)
        with daemon:
            expected = layout.expected()
            assert len(expected["intel.com/kern"]) == 4
            assert len(expected["intel.com/dpdk"]) == 2
            assert len(expected["intel.com/whole"]) == 2
            assert await kubelet_side.wait_offered(kubelet, daemon, [*expected]) == expected
            assert (kubelet.registry / "intel.com_kern.sock").is_socket() == by_watcher
            assert bool(kubelet.calls_of("Register")) != by_watcher
            devinfo.check(daemon.devinfo, expected)

            await _allocate_everything(kubelet, expected)

            allocations = len(kubelet.calls_of("Allocate"))
            await kubelet_side.restart(kubelet, [*expected])
            assert await kubelet_side.wait_offered(kubelet, daemon, [*expected]) == expected
            assert len(kubelet.calls_of("Allocate")) == allocations
            devinfo.check(daemon.devinfo, expected)

            status, seconds = await asyncio.to_thread(daemon.stop)
            assert status == 0
        assert kubelet_side.files(daemon.kubelet) == before
        return seconds


async def _allocate_everything(kubelet: FakeKubelet, offered: dict[str, set[str]]) -> None:
    """Pods until nothing is left, the first of each resource with two devices."""
    await kubelet.capacity()  # the Node's next update comes in ten seconds else
    for resource, addresses in offered.items():
        given: list[str] = []
        for number in range(len(addresses) - 1):
            requests = {resource: 1 if number else 2}
            admission = await kubelet.admit(f"{resource}-{number}", requests)
            assert admission.admitted, admission.message
            given += container.check(admission.containers["c0"], resource)
        assert sorted(given) == sorted(addresses)

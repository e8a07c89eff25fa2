"""Root without a single capability is enough, even where the Go plugin has made directories nobody can enter."""

import asyncio
import stat
from pathlib import Path

import pytest

from tests.e2e.guest import container, devinfo, kubelet_side, layout
from tests.e2e.guest.daemon import Daemon

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("_layout")]

DROP_ALL = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")


def test_serves_without_capabilities(tmp_path: Path, kubelet_directory: Path, devinfo_directory: Path) -> None:
    devinfo_directory.mkdir(parents=True)
    for directory in (devinfo_directory, devinfo_directory.parent, devinfo_directory.parents[1]):
        directory.chmod(0)
    daemon = Daemon(tmp_path, kubelet_directory, devinfo_directory, layout.POOLS, "auto", DROP_ALL)
    asyncio.run(_serve(daemon))
    assert stat.S_IMODE(devinfo_directory.parents[1].stat().st_mode) == 0o755


async def _serve(daemon: Daemon) -> None:
    async with kubelet_side.kubelet(daemon.kubelet, watcher=True) as kubelet:
        with daemon:
            expected = layout.expected()
            assert await kubelet_side.wait_offered(kubelet, daemon, [*expected]) == expected
            capabilities = [line.split() for line in (daemon.proc / "status").read_text().splitlines() if "Cap" in line]
            assert {value for _, value in capabilities} == {"0" * 16}
            devinfo.check(daemon.devinfo, expected)
            await kubelet.capacity()
            for resource in expected:
                admission = await kubelet.admit(resource, {resource: 1})
                assert admission.admitted, admission.message
                container.check(admission.containers["c0"], resource)
            status, _ = await asyncio.to_thread(daemon.stop)
            assert status == 0

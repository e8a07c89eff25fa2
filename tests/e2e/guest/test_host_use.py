"""Functions that the host itself uses are not offered, their VFs are; `explain` says why."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.guest import kernel, kubelet_side, uplink, vfs
from tests.e2e.guest.daemon import ROOT, Daemon, write_config

pytestmark = pytest.mark.e2e

EITHER = {"either": {"drivers": ["igb", "igbvf"]}}
"""PFs and VFs alike."""


@pytest.fixture
def pfs() -> Iterator[list[str]]:
    """Four PFs, the first with two VFs, one of them without a driver."""
    with_vfs, *others = kernel.pfs()
    for pf in others:
        vfs.create(pf, 0)
    _, bare = vfs.create(with_vfs, 2)
    vfs.drive(None, bare)
    yield [with_vfs, *others]
    uplink.free(*(kernel.netdev(pf) for pf in (with_vfs, *others)))


def test_uplinks_of_the_host_are_not_offered(
    pfs: list[str], tmp_path: Path, kubelet_directory: Path, devinfo_directory: Path
) -> None:
    with_vfs, routed, bonded, bridged = (kernel.netdev(pf) for pf in pfs)
    uplink.vlan(with_vfs)
    uplink.default_route(routed)
    uplink.bond(bonded)
    uplink.bridge(bridged)
    assert len(kernel.vfs_on("igbvf")) == 1

    daemon = Daemon(tmp_path, kubelet_directory, devinfo_directory, EITHER)
    assert asyncio.run(_offered(daemon)) == {"intel.com/either": kernel.vfs_on("igbvf")}
    reasons = _reasons(tmp_path)
    assert "2 VFs" in reasons[pfs[0]]
    assert f"IPv4 default route via {routed}" in reasons[pfs[1]]
    assert f"bond bond-host on {bonded}" in reasons[pfs[2]]
    assert f"bridge br-host on {bridged}" in reasons[pfs[3]]
    (bare,) = kernel.vfs_on(None)
    assert reasons[bare] == "driver: none bound"


async def _offered(daemon: Daemon) -> dict[str, set[str]]:
    async with kubelet_side.kubelet(daemon.kubelet, watcher=True) as kubelet:
        with daemon:
            return await kubelet_side.wait_offered(kubelet, daemon, ["intel.com/either"])


def _reasons(tmp_path: Path) -> dict[str, str]:
    config = tmp_path / "explained.json"
    write_config(config, EITHER)
    command = [sys.executable, "-m", "entrypoints.cli", "explain", f"--config-file={config}", "--json"]
    answer = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return {
        device["id"]: f"{device['unusable']['by']}: {device['unusable']['found']}"
        for device in json.loads(answer.stdout)["devices"]
        if device["unusable"]
    }


def test_a_vlan_and_an_ipv6_default_route_count_too(pfs: list[str], tmp_path: Path) -> None:
    uplink.vlan(kernel.netdev(pfs[1]))
    netdev = kernel.netdev(pfs[2])
    uplink.default_route6(netdev)

    reasons = _reasons(tmp_path)
    assert f"vlan vlan-host on {kernel.netdev(pfs[1])}" in reasons[pfs[1]]
    assert f"IPv6 default route via {netdev}" in reasons[pfs[2]]
    assert pfs[3] not in reasons

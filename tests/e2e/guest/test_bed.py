"""The bed itself: a kernel that makes real VFs and a QEMU that obeys."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.guest import kernel, vfs
from tests.e2e.guest.qmp import Qmp

pytestmark = pytest.mark.e2e


def test_four_pfs_are_driven_by_igb() -> None:
    assert [kernel.function(pf).driver for pf in kernel.pfs()] == ["igb"] * 4


def test_a_vf_on_vfio_pci_has_a_node_of_its_own_iommu_group() -> None:
    pf = kernel.pfs()[0]
    vfs.remove_all()
    kern, dpdk, bare = vfs.create(pf, 3)
    vfs.drive("vfio-pci", dpdk)
    vfs.drive(None, bare)

    assert kernel.vfs_on("igbvf") == {kern}
    assert kernel.vfs_on("vfio-pci") == {dpdk}
    assert kernel.vfs_on(None) == {bare}
    assert kernel.function(dpdk).pf == pf
    assert kernel.netdev(kern) == f"{kernel.netdev(pf)}v0"
    group = kernel.function(dpdk).iommu_group
    assert group is not None
    assert kernel.behind(f"/dev/vfio/{group}").match(f"vfio/{group}")
    os.close(os.open(f"/dev/vfio/{group}", os.O_RDWR))


def test_qemu_cuts_and_restores_the_link_of_a_pf() -> None:
    netdev = kernel.netdev(kernel.pfs()[0])
    subprocess.run(["ip", "link", "set", netdev, "up"], check=True)
    with Qmp() as qemu:
        qemu.set_link("pf0", up=False)
        assert _carrier_becomes(netdev, "0")
        qemu.set_link("pf0", up=True)
        assert _carrier_becomes(netdev, "1")
    subprocess.run(["ip", "link", "set", netdev, "down"], check=True)


def _carrier_becomes(netdev: str, wanted: str) -> bool:
    carrier = Path(f"/sys/class/net/{netdev}/carrier")
    for _ in range(100):
        if carrier.read_text().strip() == wanted:
            return True
        time.sleep(0.1)
    return False

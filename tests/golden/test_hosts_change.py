"""Simulated hosts change as the kernel changes them."""

import json
import os
from errno import EBUSY
from pathlib import Path
from typing import Final

import pytest

from tests.golden.contents import contents, dangling, directories
from tests.hosts import named
from tests.hosts.auxiliary import subfunction
from tests.hosts.case import case_layout
from tests.hosts.host import SimHost
from tests.hosts.laid import LaidHost
from tests.hosts.netdev import Netdev
from tests.hosts.rdma import RdmaDevice
from tests.hosts.vdpa import VIRTIO, VdpaDevice

CASES: Final = Path(__file__).with_name("cases")
PCI: Final = "sys/bus/pci/devices"


@pytest.fixture
def h1(tmp_path: Path) -> LaidHost:
    return named.h1().lay(tmp_path)


def test_vfs_come_and_go_with_sriov_numvfs(tmp_path: Path) -> None:
    laid = named.h1().lay(tmp_path)
    before = contents(tmp_path)

    laid.remove_vfs("0000:3b:00.0")

    assert sorted(os.listdir(tmp_path / PCI)) == ["0000:00:01.0", "0000:3b:00.0"]  # noqa: PTH208
    assert laid.tree.read(f"{PCI}/0000:3b:00.0/sriov_numvfs") == "0"
    assert not [p for p in contents(tmp_path) if "3b:01" in p or "virtfn" in p]

    laid.create_vfs("0000:3b:00.0", 4)

    free = {"ifindex", "iflink", "address", "uevent"}
    after = contents(tmp_path)
    assert {p: t for p, t in after.items() if Path(p).name not in free} == {
        p: t for p, t in before.items() if Path(p).name not in free
    }


def test_the_number_of_vfs_changes_only_by_way_of_none(h1: LaidHost) -> None:
    with pytest.raises(OSError, match="remove them first") as refused:
        h1.create_vfs("0000:3b:00.0", 2)

    assert refused.value.errno == EBUSY


def test_rebinding_takes_the_netdev_and_gives_it_back(h1: LaidHost) -> None:
    vf = f"{PCI}/0000:3b:01.1"
    before = contents(h1.root)

    h1.rebind("0000:3b:01.1", "vfio-pci")

    assert h1.tree.read(f"{vf}/uevent").startswith("DRIVER=vfio-pci\n")
    assert (h1.root / vf / "driver").resolve().name == "vfio-pci"
    assert h1.tree.read(f"{vf}/driver_override") == "vfio-pci"
    assert not h1.tree.exists(f"{vf}/net")
    assert not h1.tree.exists("sys/class/net/ens1f0v1")
    assert h1.tree.exists("dev/vfio/102")

    h1.rebind("0000:3b:01.1", "iavf")

    changed = {p for p, t in contents(h1.root).items() if before.get(p) != t}
    assert {Path(p).name for p in changed} <= {"ifindex", "iflink", "address", "uevent", "vfio"}
    assert dangling(h1.root) == []


def test_a_function_may_be_without_a_driver(h1: LaidHost) -> None:
    h1.rebind("0000:3b:01.1", None)

    assert not h1.tree.exists(f"{PCI}/0000:3b:01.1/driver")
    assert h1.tree.read(f"{PCI}/0000:3b:01.1/uevent").startswith("PCI_CLASS=20000\n")


def test_a_netdev_in_a_pod_leaves_an_empty_directory(h1: LaidHost) -> None:
    h1.move_netdev_to_pod("0000:3b:01.0")

    assert h1.tree.names(f"{PCI}/0000:3b:01.0/net") == []
    assert (h1.root / PCI / "0000:3b:01.0/net").is_dir()
    assert not h1.tree.exists("sys/class/net/ens1f0v0")

    h1.return_netdev("0000:3b:01.0", "net1")

    assert h1.tree.names(f"{PCI}/0000:3b:01.0/net") == ["net1"]


def test_the_link_of_a_pf_goes_down(h1: LaidHost) -> None:
    h1.set_carrier("ens1f0", carrier=False)

    net = f"{PCI}/0000:3b:00.0/net/ens1f0"
    assert (h1.tree.read(f"{net}/carrier"), h1.tree.read(f"{net}/operstate")) == ("0", "down")
    assert h1.tree.read(f"{PCI}/0000:3b:01.0/net/ens1f0v0/carrier") == "1"


def test_an_unplugged_pf_takes_its_vfs_along(tmp_path: Path) -> None:
    laid = named.h2().lay(tmp_path)

    laid.remove_function("0000:3b:00.0")

    assert laid.tree.names(PCI) == ["0000:00:01.0"]
    assert laid.tree.names("dev/vfio") == ["vfio"]
    assert laid.tree.names("sys/kernel/iommu_groups") == []


def test_what_the_host_uses_is_linked_both_ways(tmp_path: Path) -> None:
    host = SimHost()
    for number in range(5):
        host.function(f"0000:07:00.{number}", device="1521", driver="igb", netdevs=[f"eno{number}"])
    host.over("bond", "bond0", "eno0", "eno1")
    host.over("bridge", "br0", "eno2")
    host.over("vlan", "eno3.100", "eno3", vlan=100)
    host.over("openvswitch", "ovs-system", "eno4")
    host.default_route("bond0", "192.0.2.1")
    laid = host.lay(tmp_path)

    assert dangling(tmp_path) == []
    assert (tmp_path / "sys/class/net/eno1/master").resolve().name == "bond0"
    assert (tmp_path / "sys/class/net/eno4/master").resolve().name == "ovs-system"
    assert not laid.tree.exists("sys/class/net/eno3/master")
    assert (tmp_path / "sys/class/net/eno3.100/lower_eno3").resolve().name == "eno3"
    assert (tmp_path / "sys/class/net/br0/brif/eno2").resolve().name == "brport"

    laid.rebind("0000:07:00.1", "vfio-pci")

    assert laid.tree.read("sys/class/net/bond0/bonding/slaves") == "eno0"
    assert dangling(tmp_path) == []


def test_facilities_lie_below_the_devices_that_make_them(tmp_path: Path) -> None:
    host = named.h3()
    pf = host.functions["0000:5e:00.0"]
    host.adopt(pf, subfunction(4, 88, Netdev("p0s88"), RdmaDevice("mlx5_8", uverbs=8)))
    host.adopt(pf, VdpaDevice("vdpa0", VIRTIO, number=3, netdev=Netdev("eth9")))
    laid = host.lay(tmp_path)

    assert laid.tree.read("sys/bus/auxiliary/devices/mlx5_core.sf.4/sfnum") == "88"
    assert (tmp_path / "sys/class/net/p0s88/device").resolve().name == "mlx5_core.sf.4"
    assert (tmp_path / "sys/class/net/eth9/device").resolve().name == "virtio3"
    assert (tmp_path / "sys/class/infiniband_verbs/uverbs8/device").resolve().name == "mlx5_core.sf.4"

    laid.rebind("0000:5e:00.0", None)

    assert not [p for p in contents(tmp_path) if "sf.4" in p or "vdpa0" in p or "uverbs8" in p]
    assert dangling(tmp_path) == []


@pytest.mark.parametrize("name", sorted(p.stem for p in CASES.parent.glob("dynamic/*.json")))
def test_a_host_can_become_the_one_after_a_step(name: str, tmp_path: Path) -> None:
    case = json.loads((CASES.parent / "dynamic" / f"{name}.json").read_text())
    before, after = case_layout(case["host"]), case_layout(case["host_after"])

    after.replace(before, before.lay(tmp_path / "live"))
    after.lay(tmp_path / "fresh")

    assert contents(tmp_path / "live") == contents(tmp_path / "fresh")
    assert directories(tmp_path / "live") == directories(tmp_path / "fresh")

"""Device nodes where /dev is not the host's: a container's own, in which sysfs tells what the kernel has."""

from pathlib import Path

import pytest

from adapters.sysfs.host_reader import SysfsHostReader
from domain.host import Host
from tests.hosts.host import SimHost
from tests.hosts.iommu import VFIO
from tests.hosts.laid import LaidHost
from tests.hosts.rdma import RdmaDevice
from tests.hosts.uio import UioDevice
from tests.hosts.vdpa import VdpaDevice
from tests.unit.application.stage import Stage, nodes

CONTAINERS = """\
1440 1330 0:330 / / rw,relatime master:601 - overlay overlay rw,lowerdir=/a:/b
1441 1440 0:332 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw
1442 1440 0:333 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k,mode=755
1443 1442 0:334 / /dev/pts rw,nosuid,noexec,relatime - devpts devpts rw
1444 1440 0:335 / /sys ro,nosuid,nodev,noexec,relatime - sysfs sysfs ro
"""
HOSTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw
23 22 0:5 / /dev rw,nosuid shared:2 - devtmpfs devtmpfs rw,size=8k
24 23 0:20 / /dev/shm rw,nosuid,nodev shared:3 - tmpfs tmpfs rw
"""
VFS = [f"0000:3b:01.{i}" for i in range(5)]


def described() -> SimHost:
    """A VF on each of vfio, uio, RDMA and vDPA."""
    host = SimHost(iommufd=True)
    pf = host.pf("0000:3b:00.0", netdevs=["ens1f0"])
    host.vf(pf, 0, driver=VFIO, iommu_group=101)
    host.vf(pf, 1, driver="igb_uio", children=[UioDevice(3)])
    host.vf(pf, 2, children=[RdmaDevice("rocep0", uverbs=4, umad=4, issm=4)])
    host.vf(pf, 3, children=[VdpaDevice("vdpa0", number=7)])
    return host


def contain(laid: LaidHost, mountinfo: str) -> LaidHost:
    """Fill the classes, and say what is mounted."""
    for name in ("vfio", "iommu", "rdma_cm", "vhost-net", "tun"):
        laid.tree.text(f"sys/devices/virtual/misc/{name}/uevent", "")
        laid.tree.link(f"sys/class/misc/{name}", f"sys/devices/virtual/misc/{name}")
    laid.tree.link("sys/class/vfio/101", "sys/kernel/iommu_groups/101")
    laid.tree.text("proc/self/mountinfo", mountinfo)
    return laid


ALL = {
    "/dev/iommu",
    "/dev/infiniband/issm4",
    "/dev/infiniband/rdma_cm",
    "/dev/infiniband/umad4",
    "/dev/infiniband/uverbs4",
    "/dev/net/tun",
    "/dev/uio3",
    "/dev/vfio/101",
    "/dev/vfio/devices/vfio0",
    "/dev/vfio/vfio",
    "/dev/vhost-net",
    "/dev/vhost-vdpa-7",
}


def host(root: Path, mountinfo: str) -> LaidHost:
    return contain(described().lay(root), mountinfo)


def read(root: Path) -> Host:
    return SysfsHostReader(root).read()


def test_where_dev_is_foreign_the_classes_tell_which_nodes_there_are(tmp_path: Path) -> None:
    laid = host(tmp_path, CONTAINERS)
    laid.tree.delete("dev")

    assert read(tmp_path).nodes == ALL


def test_where_dev_is_the_hosts_only_what_is_in_it_counts(tmp_path: Path) -> None:
    """Case E03: a node that udev has not made is missing, whatever sysfs says."""
    laid = host(tmp_path, HOSTS)
    laid.tree.delete("dev/uio3")
    laid.tree.delete("dev/infiniband/uverbs4")

    seen = read(tmp_path).nodes

    assert {"/dev/uio3", "/dev/infiniband/uverbs4", "/dev/vhost-net", "/dev/net/tun"}.isdisjoint(seen)
    assert {"/dev/vfio/101", "/dev/vhost-vdpa-7", "/dev/infiniband/rdma_cm"} <= seen


@pytest.mark.parametrize(
    "class_entry",
    ["misc/vhost-net", "misc/tun", "misc/vfio", "vfio/101", "uio/uio3", "infiniband_verbs/uverbs4", "vfio-dev/vfio0"],
)
def test_where_dev_is_foreign_what_is_in_no_class_is_missing(class_entry: str, tmp_path: Path) -> None:
    """Case E03: a module that is not loaded."""
    laid = host(tmp_path, CONTAINERS)
    laid.tree.delete("dev")
    laid.tree.delete(f"sys/class/{class_entry}")

    (gone,) = ALL - read(tmp_path).nodes

    assert gone.endswith(class_entry.rpartition("/")[2])


@pytest.mark.parametrize(
    "mountinfo", ["", "no mountinfo at all\n", HOSTS.replace("/dev ", "/device "), "1 2 3 - tmpfs"]
)
def test_where_nothing_tells_dev_is_taken_for_the_hosts(mountinfo: str, tmp_path: Path) -> None:
    laid = host(tmp_path, mountinfo)
    laid.tree.delete("dev")

    assert read(tmp_path).nodes == frozenset()


def test_of_two_mounts_on_dev_the_upper_one_counts(tmp_path: Path) -> None:
    laid = host(tmp_path, CONTAINERS + "1500 1442 0:5 / /dev rw shared:2 - devtmpfs udev rw\n")
    laid.tree.delete("dev/uio3")

    assert "/dev/uio3" not in read(tmp_path).nodes


def test_a_device_is_handed_out_from_a_container_with_a_dev_of_its_own(tmp_path: Path) -> None:
    """Cases E01, E03, I11: by the facts of now, too."""
    stage = Stage(tmp_path, described())
    contain(stage.laid, CONTAINERS).tree.delete("dev")
    stage.start({"resourceName": "p", "selectors": [{"isRdma": True}, {"vdpaType": "vhost"}, {}]})

    assert set(stage.listed("p").values()) == {None}
    assert nodes(stage.allocate("p", *VFS[:4])) == [
        "/dev/vfio/vfio",
        "/dev/vfio/101",
        "/dev/uio3",
        *(f"/dev/infiniband/{name}" for name in ("uverbs4", "umad4", "issm4", "rdma_cm")),
        "/dev/vhost-vdpa-7",
    ]
    stage.laid.tree.delete("sys/class/uio/uio3")
    assert "/dev/uio3 is missing" in stage.refused("p", VFS[1])

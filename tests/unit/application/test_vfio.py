"""Functions on vfio: groups, hosts without an IOMMU, iommufd, drivers made of vfio-pci."""

from pathlib import Path

import pytest

from domain.exposure import DeviceNode
from tests.hosts.host import SimHost
from tests.hosts.iommu import VFIO
from tests.hosts.named import h2, h4
from tests.hosts.vfio import VfioDevice
from tests.unit.application.stage import Stage, nodes

VF = "0000:3b:01.0"
IDS = [f"0000:3b:01.{i}" for i in range(4)]
GUEST_VF = "0000:00:06.0"
POOL = {"resourceName": "dpdk", "selectors": {"drivers": ["vfio-pci"]}}
IOMMUFD = {**POOL, "iommufd": True}


def with_iommufd(*, group: int = 101) -> SimHost:
    host = SimHost(iommufd=True)
    pf = host.pf("0000:3b:00.0", netdevs=["ens1f0"])
    host.vf(pf, 0, driver=VFIO, iommu_group=group)
    return host


def test_info_has_both_nodes_on_the_first_call(tmp_path: Path) -> None:
    """Case E01."""
    stage = Stage(tmp_path, h2(), POOL)

    assert stage.info("dpdk", VF)["vfio"] == {"mount": "/dev/vfio/vfio", "dev-mount": "/dev/vfio/101"}


def test_without_an_iommu_the_node_has_its_usual_name_in_the_container(tmp_path: Path) -> None:
    """Case E02."""
    stage = Stage(tmp_path, h4(), POOL)

    granted = stage.allocate("dpdk", GUEST_VF)

    assert granted.nodes == (
        DeviceNode("/dev/vfio/vfio", "/dev/vfio/vfio"),
        DeviceNode("/dev/vfio/noiommu-0", "/dev/vfio/0"),
    )
    assert stage.info("dpdk", GUEST_VF)["vfio"] == {"mount": "/dev/vfio/vfio", "dev-mount": "/dev/vfio/0"}


def test_without_an_iommu_a_missing_node_is_refused_by_its_name_on_the_host(tmp_path: Path) -> None:
    """Cases E02, E03 (b)."""
    stage = Stage(tmp_path, h4(), POOL)
    stage.laid.tree.delete("dev/vfio/noiommu-0")

    told = stage.refused("dpdk", GUEST_VF)

    assert told == f"{GUEST_VF} cannot be used through vfio: /dev/vfio/noiommu-0 is missing on the host"


def test_without_an_iommu_a_driver_made_of_vfio_pci_is_mapped_likewise(tmp_path: Path) -> None:
    """Case E02: the group is vfio's own whatever the driver's name."""
    host = SimHost(noiommu=True)
    host.function(GUEST_VF, driver=VFIO, numa=-1, bridges=())
    stage = Stage(tmp_path, host, POOL)
    uevent = f"{stage.laid.function(GUEST_VF).path}/uevent"
    stage.laid.tree.text(uevent, stage.laid.tree.read(uevent).replace(VFIO, "mlx5_vfio_pci"))

    stage.start({"resourceName": "dpdk", "selectors": {"drivers": ["mlx5_vfio_pci"]}})

    assert stage.listed("dpdk") == {GUEST_VF: None}
    assert stage.allocate("dpdk", GUEST_VF).nodes[1] == DeviceNode("/dev/vfio/noiommu-0", "/dev/vfio/0")


def test_a_driver_made_of_vfio_pci_has_the_nodes_of_vfio(tmp_path: Path) -> None:
    host = SimHost()
    pf = host.pf("0000:5e:00.0", vendor="15b3", driver="mlx5_core", netdevs=["ens2f0"])
    host.vf(pf, 0, bdf="0000:5e:00.2", driver="mlx5_vfio_pci", iommu_group=12, children=[VfioDevice(0)])
    host.nodes += ("dev/vfio/vfio", "dev/vfio/12")
    stage = Stage(tmp_path, host, {"resourceName": "dpdk", "selectors": {}})

    assert nodes(stage.allocate("dpdk", "0000:5e:00.2")) == ["/dev/vfio/vfio", "/dev/vfio/12"]


def test_iommufd_is_given_beside_the_group_where_the_pool_asks(tmp_path: Path) -> None:
    """Case E06."""
    stage = Stage(tmp_path, with_iommufd(), IOMMUFD)

    legacy = ["/dev/vfio/vfio", "/dev/vfio/101"]
    assert nodes(stage.allocate("dpdk", VF)) == [*legacy, "/dev/iommu", "/dev/vfio/devices/vfio0"]
    told = stage.info("dpdk", VF)["vfio"]
    assert [told["mount"], told["dev-mount"]] == legacy
    assert "/dev/vfio/devices/vfio0" in told.values()


def test_iommufd_is_not_given_where_the_pool_does_not_ask(tmp_path: Path) -> None:
    """Case E06."""
    stage = Stage(tmp_path, with_iommufd(), POOL)

    assert nodes(stage.allocate("dpdk", VF)) == ["/dev/vfio/vfio", "/dev/vfio/101"]


@pytest.mark.parametrize(
    ("gone", "missing"),
    [
        ("dev/iommu", "/dev/iommu"),
        ("dev/vfio/devices/vfio0", "/dev/vfio/devices/vfio0"),
        ("sys/bus/pci/devices/0000:3b:01.0/vfio-dev", "the vfio-dev directory of the function"),
    ],
)
def test_iommufd_that_is_not_whole_fails_the_call(gone: str, missing: str, tmp_path: Path) -> None:
    """Cases E03, E06."""
    stage = Stage(tmp_path, with_iommufd(), IOMMUFD)
    stage.laid.tree.delete(gone)

    assert f"{missing} is missing on the host" in stage.refused("dpdk", VF)


def test_a_function_without_a_group_is_listed_with_its_fault_and_refused(tmp_path: Path) -> None:
    """Case E03 (a)."""
    stage = Stage(tmp_path, h2(), POOL)
    stage.laid.tree.delete(f"{stage.laid.function(VF).path}/iommu_group")
    reason = f"{VF} cannot be used through vfio: the iommu_group of the function is missing on the host"

    assert stage.refused("dpdk", *IDS) == reason
    stage.start(POOL)
    assert stage.listed("dpdk") == {id_: reason if id_ == VF else None for id_ in IDS}


def test_functions_of_one_group_share_its_node(tmp_path: Path) -> None:
    """Case E04: groups of several functions."""
    host = SimHost()
    pf = host.pf("0000:3b:00.0", netdevs=["ens1f0"])
    host.vfs(pf, 4, driver=VFIO, iommu_group=55)
    stage = Stage(tmp_path, host, POOL)

    assert nodes(stage.allocate("dpdk", *IDS[:3])) == ["/dev/vfio/vfio", "/dev/vfio/55"]


def test_a_function_rebound_into_another_group_is_handed_out_by_that(tmp_path: Path) -> None:
    """Case F02: the group changed since the list."""
    stage = Stage(tmp_path, h2(), POOL)
    function = stage.laid.function(VF)
    stage.laid.tree.delete(f"{function.path}/iommu_group")
    stage.laid.tree.link(f"{function.path}/iommu_group", "sys/kernel/iommu_groups/207")
    stage.laid.tree.node("dev/vfio/207")

    assert nodes(stage.allocate("dpdk", VF)) == ["/dev/vfio/vfio", "/dev/vfio/207"]


def test_a_whole_port_on_vfio_that_has_got_vfs_since_the_list_is_refused(tmp_path: Path) -> None:
    """Case D13: vfio-pci makes VFs too (its parameter enable_sriov)."""
    pf = "0000:3b:00.0"
    host = SimHost()
    host.pf(pf, driver=VFIO)
    stage = Stage(tmp_path, host, POOL)
    assert nodes(stage.allocate("dpdk", pf)) == ["/dev/vfio/vfio", "/dev/vfio/0"]

    stage.laid.create_vfs(pf, 2)

    assert pf in stage.refused("dpdk", pf)

"""RDMA devices in the exclusive mode of RDMA namespaces: while a pod has one, the host does not see it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.hosts.auxiliary import AuxiliaryDevice
from tests.hosts.host import SimHost
from tests.hosts.named import h3
from tests.hosts.netdev import INFINIBAND, Netdev
from tests.hosts.rdma import RdmaDevice
from tests.unit.application.stage import Stage, nodes

VF0, VF1 = "0000:5e:00.2", "0000:5e:00.3"
POOL = {"resourceName": "rdma", "selectors": {"pfNames": ["ens2f0"], "linkTypes": ["ether"], "isRdma": True}}
IB_POOL = {"resourceName": "rdma", "selectors": {"pfNames": ["ibs2f0"], "linkTypes": ["infiniband"], "isRdma": True}}


def infiniband() -> SimHost:
    """An InfiniBand PF with two VFs on a driver that makes no auxiliary devices."""
    host = SimHost()
    pf = host.pf(
        "0000:5e:00.0",
        vendor="15b3",
        driver="mlx5_core",
        vf_driver="mlx5_core",
        offset=2,
        netdevs=[Netdev("ibs2f0", link_type=INFINIBAND)],
    )
    host.adopt(pf, RdmaDevice("mlx5_0", uverbs=0))
    for index in range(2):
        vf = host.vf(pf, index, netdevs=[Netdev(f"ib{index}", link_type=INFINIBAND)])
        host.adopt(vf, RdmaDevice(f"mlx5_{index + 1}", uverbs=index + 1, link_layer="InfiniBand"))
    return host


@pytest.mark.parametrize(("host", "pool"), [(h3, POOL), (infiniband, IB_POOL)])
def test_a_restart_finds_devices_that_pods_have_in_their_pool(
    host: Callable[[], SimHost], pool: dict[str, object], tmp_path: Path
) -> None:
    """Cases D14, D15: by the auxiliary child, or by the PF where the driver makes none; devlink is not asked."""
    stage = Stage(tmp_path, host(), pool)
    stage.hold("rdma", VF0)
    stage.laid.move_netdev_to_pod(VF0, rdma=True)

    stage.start(pool)

    assert list(stage.listed("rdma")) == [VF0, VF1]


@pytest.mark.parametrize(("host", "pool"), [(h3, POOL), (infiniband, IB_POOL)])
def test_a_device_that_a_pod_has_is_healthy(
    host: Callable[[], SimHost], pool: dict[str, object], tmp_path: Path
) -> None:
    """Cases D14, C02: the scheduler takes used from healthy: an unhealthy one in a pod costs a free one."""
    stage = Stage(tmp_path, host(), pool)
    stage.hold("rdma", VF0)
    stage.laid.move_netdev_to_pod(VF0, rdma=True)

    stage.start(pool)

    assert stage.listed("rdma") == {VF0: None, VF1: None}


def test_a_device_that_came_back_is_handed_out_with_its_nodes_of_now(tmp_path: Path) -> None:
    """Case D14."""
    stage = Stage(tmp_path, h3(), POOL)
    stage.laid.move_netdev_to_pod(VF0, rdma=True)
    stage.start(POOL)
    assert "the uverbs device" in stage.refused("rdma", VF0)

    vf = stage.laid.function(VF0)
    vf.left_for_pod = [replace(c, uverbs=22) if isinstance(c, RdmaDevice) else c for c in vf.left_for_pod]
    stage.laid.return_netdev(VF0)
    stage.reconcile()

    assert nodes(stage.allocate("rdma", VF0))[0] == "/dev/infiniband/uverbs22"


def test_in_the_shared_mode_the_device_stays_and_only_the_interface_goes(tmp_path: Path) -> None:
    stage = Stage(tmp_path, h3(), POOL)
    stage.laid.move_netdev_to_pod(VF0)

    stage.start(POOL)

    assert stage.listed("rdma") == {VF0: None, VF1: None}
    assert nodes(stage.allocate("rdma", VF0))[0] == "/dev/infiniband/uverbs4"


def test_a_function_whose_interface_is_at_home_is_not_taken_for_one_in_a_pod(tmp_path: Path) -> None:
    stage = Stage(tmp_path, infiniband(), IB_POOL)
    RdmaDevice("mlx5_1", uverbs=1).remove(stage.laid.tree, stage.laid.function(VF0).path)

    stage.start(IB_POOL)

    assert list(stage.listed("rdma")) == [VF1]
    assert stage.why_not(VF0) == "isRdma: wanted an RDMA device, found none"


def test_a_vf_on_another_driver_than_its_rdma_pf_does_no_rdma(tmp_path: Path) -> None:
    stage = Stage(tmp_path, infiniband(), IB_POOL)
    stage.laid.rebind(VF0, "vfio-pci")

    stage.start(IB_POOL)

    assert list(stage.listed("rdma")) == [VF1]


@pytest.mark.parametrize("kind", ["ice.roce", "ice.iwarp", "iavf.roce", "iavf.iwarp"])
def test_the_auxiliary_devices_of_intel_tell_as_well(kind: str, tmp_path: Path) -> None:
    """irdma binds other kinds than mlx5_ib; a VF's driver is not that of its PF, so the PF does not tell."""
    host = SimHost()
    pf = host.pf("0000:3b:00.0", netdevs=["ens1f0"])
    vf = host.vf(pf, 0, driver="iavf", netdevs=["ens1f0v0"])
    host.adopt(vf, RdmaDevice("irdma0", uverbs=0), AuxiliaryDevice(f"{kind}.1"))
    pool: dict[str, object] = {"resourceName": "rdma", "selectors": {"isRdma": True}}
    stage = Stage(tmp_path, host, pool)
    stage.laid.move_netdev_to_pod(vf.bdf, rdma=True)

    stage.start(pool)

    assert stage.listed("rdma") == {vf.bdf: None}


def test_other_auxiliary_children_are_no_evidence_of_rdma(tmp_path: Path) -> None:
    host = SimHost()
    pf = host.pf("0000:3b:00.0", netdevs=["ens1f0"])
    host.adopt(host.vf(pf, 0), AuxiliaryDevice("mlx5_core.eth.4"), AuxiliaryDevice("mlx5_core.vnet.4"))
    stage = Stage(tmp_path, host, {"resourceName": "rdma", "selectors": {"isRdma": True}})

    assert stage.listed("rdma") == {}

"""What was decided for the list holds at Allocate and over a restart."""

from pathlib import Path

from tests.hosts.host import SimHost
from tests.hosts.named import h3
from tests.unit.application.stage import Stage

NIC, RDMA_VF = "0000:01:00.0", "0000:5e:00.2"


def test_the_selector_that_took_a_device_is_the_one_it_is_handed_out_by(tmp_path: Path) -> None:
    """Cases D09, D26: the first one refuses what the host uses, at Allocate as in the list."""
    host = SimHost()
    host.function(NIC, device="1533", driver="igb", netdevs=["eno1"])
    host.default_route("eno1", "192.0.2.1")
    selectors = [{"needVhostNet": True}, {"devices": ["1533"], "allowHostUse": True}]
    stage = Stage(tmp_path, host, {"resourceName": "p", "selectors": selectors})
    assert stage.listed("p") == {NIC: None}

    assert stage.allocate("p", NIC).nodes == ()
    assert "vhost" not in stage.info("p", NIC)


def test_the_record_of_a_device_that_a_pod_has_keeps_the_name_of_its_rdma_device(tmp_path: Path) -> None:
    """Cases D14, E11: a sandbox is made again without an Allocate, and its CNI plugins read the record."""
    pool = {"resourceName": "rdma", "selectors": {"pfNames": ["ens2f0"], "isRdma": True}}
    stage = Stage(tmp_path, h3(), pool)
    stage.hold("rdma", RDMA_VF)
    stage.laid.move_netdev_to_pod(RDMA_VF, rdma=True)

    stage.start(pool)

    assert stage.device_info("rdma", RDMA_VF)["pci"]["rdma-device"] == "mlx5_4"

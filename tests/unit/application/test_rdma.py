"""Pools that ask for RDMA."""

from pathlib import Path

from tests.hosts.host import SimHost
from tests.hosts.named import h3
from tests.hosts.rdma import RDMA_CM, RdmaDevice
from tests.unit.application.stage import Stage, nodes

VF0, VF1, OTHER = "0000:5e:00.2", "0000:5e:00.3", "0000:5e:08.2"
RDMA = {"resourceName": "rdma", "selectors": {"pfNames": ["ens2f0"], "isRdma": True}}
PLAIN = {"resourceName": "plain", "selectors": {"pfNames": ["ens2f1"]}}


def infiniband(*names: str) -> list[str]:
    return [f"/dev/infiniband/{name}" for name in names]


def irdma(*devices: RdmaDevice) -> SimHost:
    """One VF of an Intel PF with these RDMA devices, and no auxiliary ones."""
    host = SimHost()
    pf = host.pf("0000:3b:00.0", netdevs=["ens1f0"])
    host.adopt(host.vf(pf, 0, bdf="0000:3b:01.0"), *devices)
    return host


INTEL = {"resourceName": "rdma", "selectors": {"pfNames": ["ens1f0"], "isRdma": True}}


def test_a_container_gets_every_node_of_its_rdma_device_and_is_told_of_them(tmp_path: Path) -> None:
    stage = Stage(tmp_path, h3(), RDMA)

    assert stage.listed("rdma") == {VF0: None, VF1: None}
    assert nodes(stage.allocate("rdma", VF0)) == infiniband("uverbs4", "umad4", "issm4", "rdma_cm")
    assert stage.info("rdma", VF0)["rdma"] == {
        "uverbs": "/dev/infiniband/uverbs4",
        "umad": "/dev/infiniband/umad4",
        "issm": "/dev/infiniband/issm4",
        "rdma_cm": "/dev/infiniband/rdma_cm",
        "rdma_dev": "mlx5_4",
    }
    assert stage.device_info("rdma", VF0)["pci"]["rdma-device"] == "mlx5_4"


def test_two_devices_in_one_container_share_the_connection_managers_node(tmp_path: Path) -> None:
    """Case E04."""
    stage = Stage(tmp_path, h3(), RDMA)

    got = nodes(stage.allocate("rdma", VF1, VF0))

    assert sorted(got) == sorted(
        infiniband("rdma_cm", *(f"{k}{n}" for k in ("uverbs", "umad", "issm") for n in (4, 5)))
    )


def test_a_pool_that_does_not_ask_gets_no_rdma_nodes(tmp_path: Path) -> None:
    stage = Stage(tmp_path, h3(), PLAIN)

    assert nodes(stage.allocate("plain", OTHER)) == []
    assert "rdma" not in stage.info("plain", OTHER)
    assert "rdma-device" not in stage.device_info("plain", OTHER)["pci"]


def test_several_rdma_devices_of_one_function_are_all_given(tmp_path: Path) -> None:
    two = (RdmaDevice("rocep1", uverbs=7), RdmaDevice("rocep0", uverbs=6, umad=6))
    stage = Stage(tmp_path, irdma(*two), INTEL)

    assert nodes(stage.allocate("rdma", "0000:3b:01.0")) == infiniband("uverbs6", "uverbs7", "umad6", "rdma_cm")
    told = stage.info("rdma", "0000:3b:01.0")["rdma"]
    assert told["rdma_dev"] == "rocep0,rocep1"
    assert told["uverbs"] == "/dev/infiniband/uverbs6,/dev/infiniband/uverbs7"
    assert stage.device_info("rdma", "0000:3b:01.0")["pci"]["rdma-device"] == "rocep0,rocep1"


def test_an_rdma_device_without_verbs_makes_no_half_grant(tmp_path: Path) -> None:
    """Case E03 (c): beside one that has them, too."""
    two = (RdmaDevice("rocep0", uverbs=6), RdmaDevice("rocep1", uverbs=None, umad=7))
    stage = Stage(tmp_path, irdma(*two), INTEL)

    reason = "0000:3b:01.0 cannot be used through rdma: the uverbs device of the function is missing on the host"
    assert stage.listed("rdma") == {"0000:3b:01.0": reason}
    assert reason in stage.refused("rdma", "0000:3b:01.0")


def test_a_uverbs_node_that_vanished_since_is_refused_with_its_path(tmp_path: Path) -> None:
    """Case E03 (c)."""
    stage = Stage(tmp_path, h3(), RDMA)
    stage.laid.tree.delete("dev/infiniband/uverbs4")

    told = stage.refused("rdma", VF0, VF1)

    assert told == f"{VF0} cannot be used through rdma: /dev/infiniband/uverbs4 is missing on the host"


def test_without_the_connection_managers_module_the_verbs_are_given_alone(tmp_path: Path) -> None:
    """The Go plugin does so too; the module can be loaded later."""
    stage = Stage(tmp_path, h3(), RDMA)
    stage.laid.tree.delete(RDMA_CM)

    assert nodes(stage.allocate("rdma", VF0)) == infiniband("uverbs4", "umad4", "issm4")
    stage.laid.tree.node(RDMA_CM)
    assert "rdma_cm" in stage.info("rdma", VF0)["rdma"]


def test_without_rdma_a_device_is_left_out_with_the_reason_until_it_appears(tmp_path: Path) -> None:
    stage = Stage(tmp_path, irdma(), INTEL)
    assert stage.listed("rdma") == {}
    assert stage.why_not("0000:3b:01.0") == "isRdma: wanted an RDMA device, found none"

    RdmaDevice("rocep0", uverbs=0).lay(stage.laid.tree, stage.laid.function("0000:3b:01.0").path)
    stage.reconcile()

    assert stage.listed("rdma") == {"0000:3b:01.0": None}


def test_nodes_are_those_of_now_when_a_device_was_made_anew(tmp_path: Path) -> None:
    """Case F02: without CDI as with it."""
    stage = Stage(tmp_path, irdma(RdmaDevice("rocep0", uverbs=20)), INTEL)
    path = stage.laid.function("0000:3b:01.0").path
    RdmaDevice("rocep0", uverbs=20).remove(stage.laid.tree, path)
    RdmaDevice("rocep4", uverbs=22).lay(stage.laid.tree, path)

    assert nodes(stage.allocate("rdma", "0000:3b:01.0"))[0] == "/dev/infiniband/uverbs22"
    assert stage.device_info("rdma", "0000:3b:01.0")["pci"]["rdma-device"] == "rocep4"

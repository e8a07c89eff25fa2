"""RDMA modules that are not loaded: the auxiliary child is there, since the network driver makes it."""

from pathlib import Path

from tests.hosts.auxiliary import AuxiliaryDevice
from tests.hosts.host import SimHost
from tests.hosts.rdma import RdmaDevice
from tests.unit.application.stage import Stage

VF = "0000:5e:00.2"
POOL = {"resourceName": "rdma", "selectors": {"isRdma": True}}


def host() -> SimHost:
    """A VF whose interface is at home, with an auxiliary child for RDMA that no driver has taken."""
    host = SimHost()
    pf = host.pf("0000:5e:00.0", vendor="15b3", driver="mlx5_core", vf_driver="mlx5_core", offset=2, netdevs=["ens2f0"])
    host.adopt(host.vf(pf, 0), AuxiliaryDevice("mlx5_core.rdma.4", bound=False))
    return host


def test_a_device_that_every_allocate_would_refuse_is_not_offered_as_healthy(tmp_path: Path) -> None:
    """Cases E03, D14: a pod has the interface too; this one's is at home, so nobody has its RDMA device."""
    stage = Stage(tmp_path, host(), POOL)

    assert None not in stage.listed("rdma").values()
    assert VF in stage.refused("rdma", VF)


def test_it_is_served_once_the_modules_are_loaded(tmp_path: Path) -> None:
    stage = Stage(tmp_path, host(), POOL)

    RdmaDevice("mlx5_4", uverbs=4).lay(stage.laid.tree, stage.laid.function(VF).path)
    stage.reconcile()

    assert stage.listed("rdma") == {VF: None}

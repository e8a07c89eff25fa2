"""Subfunctions that go, that a pod has, or that sit on what cannot be read."""

from pathlib import Path

from tests.hosts.auxiliary import AuxiliaryDevice, subfunction
from tests.hosts.function import Function
from tests.hosts.host import SimHost
from tests.hosts.netdev import Netdev
from tests.hosts.rdma import RdmaDevice
from tests.unit.application.stage import Stage, nodes

PFS = ("0000:08:00.0", "0000:08:00.1")
SF4, SF5 = "mlx5_core.sf.4", "mlx5_core.sf.5"
POOL = {"resourceName": "sf", "deviceType": "auxNetDevice", "selectors": {"pfNames": ["p0", "p1"]}}
RDMA = {"resourceName": "sf", "deviceType": "auxNetDevice", "selectors": {"isRdma": True}}


def host() -> SimHost:
    """Two PFs with a subfunction each, which do RDMA."""
    host = SimHost()
    for number, bdf in enumerate(PFS):
        pf = host.pf(bdf, vendor="15b3", device="a2d6", driver="mlx5_core", netdevs=[f"p{number}"])
        host.adopt(
            pf,
            RdmaDevice(f"mlx5_{number}", uverbs=number),
            subfunction(
                4 + number,
                88,
                AuxiliaryDevice(f"mlx5_core.eth.{8 + number}"),
                AuxiliaryDevice(f"mlx5_core.rdma.{8 + number}"),
                Netdev(f"p{number}s88"),
                RdmaDevice(f"mlx5_{8 + number}", uverbs=8 + number),
            ),
        )
    return host


def subfunction_of(function: Function) -> AuxiliaryDevice:
    return next(c for c in function.children if isinstance(c, AuxiliaryDevice))


def give_to_a_pod(stage: Stage, *, rdma: bool = False) -> None:
    """A CNI takes the interface of the first subfunction; with *rdma* its RDMA device too."""
    pf = stage.laid.function(PFS[0])
    for child in subfunction_of(pf).children:
        if isinstance(child, Netdev) or (rdma and isinstance(child, RdmaDevice)):
            child.leave_for_pod(stage.laid.tree, f"{pf.path}/{SF4}")


def test_a_subfunction_whose_interface_is_in_a_pod_stays_in_its_pool(tmp_path: Path) -> None:
    """Cases B10, E16."""
    stage = Stage(tmp_path, host(), POOL)
    give_to_a_pod(stage)

    stage.start(POOL)

    assert stage.listed("sf") == {SF4: None, SF5: None}


def test_an_rdma_subfunction_that_a_pod_has_whole_stays_in_its_pool(tmp_path: Path) -> None:
    """Case D14: a subfunction's own auxiliary child tells, as a VF's does."""
    stage = Stage(tmp_path, host(), RDMA)
    give_to_a_pod(stage, rdma=True)

    stage.start(RDMA)

    assert list(stage.listed("sf")) == [SF4, SF5]


def test_a_subfunction_that_was_deleted_leaves_the_list_and_is_refused_before_that(tmp_path: Path) -> None:
    stage = Stage(tmp_path, host(), POOL)
    for number, bdf in enumerate(PFS):
        pf = stage.laid.function(bdf)
        subfunction_of(pf).remove(stage.laid.tree, pf.path)
        if number == 0:
            assert stage.refused("sf", SF4) == f"{SF4} of pool intel.com/sf cannot be used: gone from the host"

    stage.reconcile()

    assert list(stage.listed("sf")) == []


def test_a_subfunction_made_anew_has_its_new_nodes_at_once(tmp_path: Path) -> None:
    stage = Stage(tmp_path, host(), RDMA)
    pf = stage.laid.function(PFS[0])
    subfunction_of(pf).remove(stage.laid.tree, pf.path)
    again = subfunction(4, 88, Netdev("p0s88"), RdmaDevice("mlx5_20", uverbs=20))
    again.lay(stage.laid.tree, pf.path)

    assert nodes(stage.allocate("sf", SF4))[0] == "/dev/infiniband/uverbs20"
    assert stage.device_info("sf", SF4)["pci"]["rdma-device"] == "mlx5_20"


def test_subfunctions_of_a_function_that_cannot_be_read_are_left_out_with_it(tmp_path: Path) -> None:
    """Case I01: the others are served, and the function has the reason."""
    stage = Stage(tmp_path, host(), POOL)
    path = stage.laid.function(PFS[0]).path
    for attribute in ("uevent", "class"):
        (stage.laid.root / path / attribute).unlink()

    stage.start(POOL)

    assert stage.listed("sf") == {SF5: None}
    (told,) = stage.journal.told("device left out")
    assert told["device"] == PFS[0]

"""Functions on uio drivers."""

from pathlib import Path

import pytest

from tests.hosts.host import SimHost
from tests.hosts.ids import ACCELERATOR
from tests.hosts.netdev import Netdev
from tests.hosts.uio import UioDevice
from tests.unit.application.stage import Stage, nodes

VF, BROTHER = "0000:3b:01.0", "0000:3b:01.1"
POOL = {"resourceName": "dpdk", "selectors": {"pfNames": ["ens1f0"]}}


def host(driver: str = "igb_uio") -> SimHost:
    host = SimHost()
    pf = host.pf("0000:3b:00.0", netdevs=["ens1f0"])
    for index in range(2):
        host.vf(pf, index, driver=driver, children=[UioDevice(3 + index, driver)])
    return host


@pytest.mark.parametrize("driver", ["igb_uio", "uio_pci_generic"])
def test_the_uio_node_is_handed_out_and_told_on_the_first_call(driver: str, tmp_path: Path) -> None:
    """Case E01."""
    stage = Stage(tmp_path, host(driver), POOL)

    assert stage.info("dpdk", VF) == {"generic": {"deviceID": VF}, "uio": {"mount": "/dev/uio3"}}
    assert nodes(stage.allocate("dpdk", VF, BROTHER)) == ["/dev/uio3", "/dev/uio4"]


def test_an_accelerator_on_uio_is_handed_out_likewise(tmp_path: Path) -> None:
    """Cases E01, D20."""
    fec = SimHost()
    fec.function("0000:8a:00.0", class_code=ACCELERATOR, driver="igb_uio", children=[UioDevice(0)])
    stage = Stage(tmp_path, fec, {"resourceName": "fec", "deviceType": "accelerator", "selectors": {}})

    assert nodes(stage.allocate("fec", "0000:8a:00.0")) == ["/dev/uio0"]
    assert stage.info("fec", "0000:8a:00.0")["uio"] == {"mount": "/dev/uio0"}


def test_an_empty_uio_directory_costs_its_own_device_alone(tmp_path: Path) -> None:
    """Cases I05, E03."""
    stage = Stage(tmp_path, host(), POOL)
    stage.laid.tree.delete(f"{stage.laid.function(VF).path}/uio/uio3")

    stage.start(POOL)

    reason = f"{VF} cannot be used through uio: the uio device of the function is missing on the host"
    assert stage.listed("dpdk") == {VF: reason, BROTHER: None}
    assert reason in stage.refused("dpdk", VF)
    assert nodes(stage.allocate("dpdk", BROTHER)) == ["/dev/uio4"]


def test_a_uio_directory_emptied_since_the_start_fails_that_call_and_no_other(tmp_path: Path) -> None:
    """Cases I05, E03."""
    stage = Stage(tmp_path, host(), POOL)
    stage.laid.tree.delete(f"{stage.laid.function(VF).path}/uio/uio3")

    assert "the uio device of the function" in stage.refused("dpdk", BROTHER, VF)
    assert nodes(stage.allocate("dpdk", BROTHER)) == ["/dev/uio4"]


def test_a_missing_uio_node_is_refused_with_its_path(tmp_path: Path) -> None:
    """Case E03."""
    stage = Stage(tmp_path, host(), POOL)
    stage.laid.tree.delete("dev/uio3")

    assert stage.refused("dpdk", VF) == f"{VF} cannot be used through uio: /dev/uio3 is missing on the host"


def test_a_uio_device_that_was_renumbered_is_handed_out_by_its_node_of_now(tmp_path: Path) -> None:
    stage = Stage(tmp_path, host(), POOL)
    stage.laid.rebind(VF, "igb_uio", UioDevice(17))

    assert nodes(stage.allocate("dpdk", VF)) == ["/dev/uio17"]


def test_a_uio_device_below_a_kernel_driver_is_none_of_the_containers(tmp_path: Path) -> None:
    """Some network drivers make one for their own tools."""
    host = SimHost()
    pf = host.pf("0000:3b:00.0", netdevs=["ens1f0"])
    host.vf(pf, 0, driver="hns3", children=[UioDevice(5), Netdev("eth9")])
    stage = Stage(tmp_path, host, POOL)

    assert nodes(stage.allocate("dpdk", VF)) == []

"""`linkTypes` of a device that is its own PF, while a pod has its interface."""

from pathlib import Path

import pytest

from tests.hosts.host import SimHost
from tests.hosts.netdev import INFINIBAND, Netdev
from tests.unit.application.stage import Stage

NIC = "0000:5e:00.0"


@pytest.mark.parametrize(
    ("class_code", "hardware", "name"), [("020000", 1, "ether"), ("020700", INFINIBAND, "infiniband")]
)
@pytest.mark.parametrize("whole_port", [True, False])
def test_a_whole_port_or_a_guests_vf_stays_healthy_while_its_pod_has_the_interface_also_after_a_restart(
    tmp_path: Path, class_code: str, hardware: int, name: str, *, whole_port: bool
) -> None:
    """Cases B10, C02."""
    host = SimHost()
    make = host.pf if whole_port else host.function
    make(NIC, class_code=class_code, driver="mlx5_core", netdevs=[Netdev("ib0", link_type=hardware)])
    pool = {"resourceName": "p", "selectors": {"linkTypes": [name]}}
    stage = Stage(tmp_path, host, pool)
    stage.hold("p", NIC)
    stage.laid.move_netdev_to_pod(NIC)

    stage.reconcile()
    assert stage.listed("p") == {NIC: None}

    stage.start(pool)
    assert stage.listed("p") == {NIC: None}


def test_a_virtio_function_stays_too_whose_interface_lay_below_a_device_in_between(tmp_path: Path) -> None:
    host = SimHost()
    host.function(NIC, vendor="1af4", device="1041", driver="virtio-pci", bridges=())
    stage = Stage(tmp_path, host)
    directory = f"{stage.laid.function(NIC).path}/virtio2"
    interface = Netdev("eth1", ifindex=5)
    interface.lay(stage.laid.tree, directory)
    stage.start({"resourceName": "p", "selectors": {"linkTypes": ["ether"]}})
    stage.hold("p", NIC)

    interface.leave_for_pod(stage.laid.tree, directory)
    stage.reconcile()

    assert stage.listed("p") == {NIC: None}

"""Pools that ask for vDPA devices."""

from pathlib import Path

import pytest

from tests.hosts.host import SimHost
from tests.hosts.netdev import Netdev
from tests.hosts.vdpa import VHOST, VIRTIO, VdpaDevice
from tests.unit.application.stage import Stage, nodes

VHOST_VF, VIRTIO_VF, UNBOUND_VF, PLAIN_VF = (f"0000:5e:00.{i}" for i in range(2, 6))
VHOST_POOL = {"resourceName": "vhost", "selectors": {"vdpaType": "vhost"}}
VIRTIO_POOL = {"resourceName": "virtio", "selectors": {"vdpaType": "virtio"}}


def host() -> SimHost:
    """Four VFs: a vDPA device for vhost, one for virtio, one on no bus driver, none."""
    host = SimHost()
    pf = host.pf("0000:5e:00.0", vendor="15b3", driver="mlx5_core", netdevs=["ens2f0"], vf_driver="mlx5_core", offset=2)
    vfs = host.vfs(pf, 4, netdevs=())
    host.adopt(vfs[0], VdpaDevice("vdpa0", VHOST, 0))
    host.adopt(vfs[1], VdpaDevice("vdpa1", VIRTIO, 1, netdev=Netdev("eth1")))
    host.adopt(vfs[2], VdpaDevice("vdpa2", None))
    return host


def test_the_vhost_node_is_handed_out_and_told_on_the_first_call(tmp_path: Path) -> None:
    """Cases E01, E10."""
    stage = Stage(tmp_path, host(), VHOST_POOL)

    assert stage.info("vhost", VHOST_VF)["vdpa"] == {"mount": "/dev/vhost-vdpa-0"}
    assert nodes(stage.allocate("vhost", VHOST_VF)) == ["/dev/vhost-vdpa-0"]
    assert stage.device_info("vhost", VHOST_VF) == {
        "type": "vdpa",
        "version": "1.1.0",
        "vdpa": {
            "parent-device": "vdpa0",
            "driver": "vhost",
            "path": "/dev/vhost-vdpa-0",
            "pci-address": VHOST_VF,
            "pf-pci-address": "0000:5e:00.0",
        },
    }


def test_a_virtio_device_is_an_interface_and_has_no_node(tmp_path: Path) -> None:
    stage = Stage(tmp_path, host(), VIRTIO_POOL)

    assert nodes(stage.allocate("virtio", VIRTIO_VF)) == []
    assert "vdpa" in stage.info("virtio", VIRTIO_VF)
    told = stage.device_info("virtio", VIRTIO_VF)["vdpa"]
    assert (told["parent-device"], told["driver"]) == ("vdpa1", "virtio")


def test_a_device_on_the_other_bus_driver_or_on_none_is_left_out_with_what_was_found(tmp_path: Path) -> None:
    """Case E14."""
    stage = Stage(tmp_path, host(), VHOST_POOL)

    assert list(stage.listed("vhost")) == [VHOST_VF]
    wanted = "vdpaType: wanted a vDPA device on vhost_vdpa, found"
    assert stage.why_not(VIRTIO_VF) == f"{wanted} vdpa1 on virtio_vdpa"
    assert stage.why_not(UNBOUND_VF) == f"{wanted} vdpa2 on no driver"
    assert stage.why_not(PLAIN_VF) == f"{wanted} none"


def test_each_type_is_in_the_pool_that_asks_for_it_and_the_rest_in_neither(tmp_path: Path) -> None:
    """Case E14."""
    rest = {"resourceName": "rest", "selectors": {}}
    stage = Stage(tmp_path, host(), VIRTIO_POOL, VHOST_POOL, rest)

    assert [list(stage.listed(p)) for p in ("virtio", "vhost", "rest")] == [
        [VIRTIO_VF],
        [VHOST_VF],
        [UNBOUND_VF, PLAIN_VF],
    ]


def test_a_vdpa_device_deleted_since_the_start_is_refused_and_its_record_left_alone(tmp_path: Path) -> None:
    """Cases E03 (e), I11."""
    stage = Stage(tmp_path, host(), VHOST_POOL)
    VdpaDevice("vdpa0", VHOST, 0).remove(stage.laid.tree, stage.laid.function(VHOST_VF).path)

    told = stage.refused("vhost", VHOST_VF)

    assert told.startswith(f"{VHOST_VF} of pool intel.com/vhost cannot be used: vdpaType: ")
    assert "found none" in told


def test_a_vdpa_device_bound_anew_to_virtio_is_refused_in_a_vhost_pool(tmp_path: Path) -> None:
    """Cases E14, I11."""
    stage = Stage(tmp_path, host(), VHOST_POOL)
    path = stage.laid.function(VHOST_VF).path
    VdpaDevice("vdpa0", VHOST, 0).remove(stage.laid.tree, path)
    VdpaDevice("vdpa0", VIRTIO, 9).lay(stage.laid.tree, path)

    assert "found vdpa0 on virtio_vdpa" in stage.refused("vhost", VHOST_VF)


def test_a_vdpa_device_with_another_node_than_at_the_start_is_handed_out_with_that(tmp_path: Path) -> None:
    """Case I11."""
    stage = Stage(tmp_path, host(), VHOST_POOL)
    path = stage.laid.function(VHOST_VF).path
    VdpaDevice("vdpa0", VHOST, 0).remove(stage.laid.tree, path)
    VdpaDevice("vdpa0", VHOST, 4).lay(stage.laid.tree, path)

    assert nodes(stage.allocate("vhost", VHOST_VF)) == ["/dev/vhost-vdpa-4"]
    assert stage.device_info("vhost", VHOST_VF)["vdpa"]["path"] == "/dev/vhost-vdpa-4"


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("dev/vhost-vdpa-0", "vdpa: /dev/vhost-vdpa-0 is missing on the host"),
        ("sys/bus/vdpa/devices/vdpa0/vhost-vdpa-0", "vdpa: the vhost-vdpa node of vdpa0 is missing on the host"),
    ],
)
def test_a_missing_node_fails_the_call_with_the_device_and_what_is_missing(
    gone: str, said: str, tmp_path: Path
) -> None:
    """Case E03."""
    stage = Stage(tmp_path, host(), VHOST_POOL)
    stage.laid.tree.delete(gone)

    assert stage.refused("vhost", VHOST_VF) == f"{VHOST_VF} cannot be used through {said}"


def test_odd_devices_on_the_vdpa_bus_hide_no_other(tmp_path: Path) -> None:
    """Case I09: one of VDUSE, one that leads nowhere, a virtio device below another, a driver link in a loop."""
    described = host()
    path = described.functions[PLAIN_VF].path
    stage = Stage(tmp_path, described, VHOST_POOL, VIRTIO_POOL)
    tree = stage.laid.tree
    tree.text("sys/devices/virtual/vduse/vduse0/vduse0/uevent", "")
    tree.link("sys/bus/vdpa/devices/vduse0", "sys/devices/virtual/vduse/vduse0/vduse0")
    tree.raw_link("sys/bus/vdpa/devices/vdpa8", "../../../devices/nowhere/vdpa8")
    tree.raw_link("sys/bus/vdpa/devices/vdpa9", f"../../../../{path}/vdpa9")
    tree.text(f"{path}/vdpa9/virtio7/device", "0x0001")
    tree.raw_link(f"{path}/vdpa9/driver", "driver")

    stage.start(VHOST_POOL, VIRTIO_POOL)

    assert stage.listed("vhost") == {VHOST_VF: None}
    assert stage.listed("virtio") == {VIRTIO_VF: None}
    assert stage.trail(PLAIN_VF).pool is None

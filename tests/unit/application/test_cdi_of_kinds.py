"""CDI files for every kind of device, judged by the specification."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.contract.cdi_specification import VENDOR, resolvable, violations
from tests.hosts.auxiliary import subfunction
from tests.hosts.host import SimHost
from tests.hosts.ids import ACCELERATOR
from tests.hosts.iommu import VFIO
from tests.hosts.named import h2, h3, h4
from tests.hosts.netdev import Netdev
from tests.hosts.rdma import RdmaDevice
from tests.hosts.uio import UioDevice
from tests.hosts.vdpa import VIRTIO, VdpaDevice
from tests.hosts.vhost import TUN, VHOST_NET
from tests.unit.application.stage import Stage, nodes


def accelerators() -> SimHost:
    host = SimHost()
    host.vfs(host.pf("0000:8a:00.0", class_code=ACCELERATOR, driver="pci-pf-stub"), 2, driver=VFIO)
    return host


def subfunctions() -> SimHost:
    host = SimHost()
    pf = host.pf("0000:08:00.0", vendor="15b3", driver="mlx5_core", netdevs=["p0"])
    host.adopt(pf, *(subfunction(n, 80 + n, RdmaDevice(f"mlx5_{n}", uverbs=n, umad=n)) for n in range(4, 6)))
    return host


def vdpa() -> SimHost:
    host = SimHost()
    pf = host.pf("0000:5e:00.0", vendor="15b3", driver="mlx5_core", netdevs=["ens2f0"])
    for index in range(2):
        host.vf(pf, index, netdevs=(), children=[VdpaDevice(f"vdpa{index}", number=index)])
    host.vf(pf, 2, netdevs=(), children=[VdpaDevice("vdpa2", VIRTIO, 2, netdev=Netdev("eth2"))])
    return host


def vhost_net() -> SimHost:
    host = h2()
    host.nodes += (VHOST_NET, TUN)
    return host


def uio() -> SimHost:
    host = SimHost()
    pf = host.pf("0000:3b:00.0", netdevs=["ens1f0"])
    for index in range(2):
        host.vf(pf, index, driver="igb_uio", children=[UioDevice(index)])
    return host


def iommufd() -> SimHost:
    host = SimHost(iommufd=True)
    host.vfs(host.pf("0000:3b:00.0", netdevs=["ens1f0"]), 2, driver=VFIO)
    return host


def wide_domain() -> SimHost:
    host = SimHost()
    host.function("10000:e1:00.0", driver=VFIO, bridges=("10000:e0:00.0",))
    return host


KINDS: list[tuple[Callable[[], SimHost], dict[str, Any], str, int]] = [
    (h2, {}, "net-pci", 4),
    (h3, {"selectors": {"isRdma": True}}, "net-pci", 4),
    (h4, {}, "net-pci", 4),
    (vdpa, {"selectors": [{"vdpaType": "vhost"}, {"vdpaType": "virtio"}]}, "net-pci", 2),
    (vhost_net, {"selectors": {"needVhostNet": True}}, "net-pci", 4),
    (uio, {}, "net-pci", 2),
    (iommufd, {"iommufd": True}, "net-pci", 2),
    (wide_domain, {}, "net-pci", 1),
    (accelerators, {"deviceType": "accelerator"}, "acc-pci", 2),
    (subfunctions, {"deviceType": "auxNetDevice", "selectors": {"isRdma": True}}, "net-aux", 2),
]


@pytest.mark.parametrize(("host", "keys", "class_", "number"), KINDS, ids=[k[0].__name__ for k in KINDS])
def test_the_file_of_every_kind_obeys_the_specification_and_has_the_nodes_of_the_grant(
    host: Callable[[], SimHost], keys: dict[str, Any], class_: str, number: int, tmp_path: Path
) -> None:
    """Cases F04, E02: nodes of another name in the container, too."""
    spec = {"resourceName": "p", "selectors": {}, **keys}
    plain = Stage(tmp_path / "plain", host(), spec)
    stage = Stage(tmp_path / "cdi", host(), spec, cdi=True)

    found = resolvable(stage.cdi_directory)

    assert len(found) == number
    for name, edits in found.items():
        kind, _, id_ = name.partition("=")
        assert kind == f"intel.com/{class_}"
        assert stage.allocate("p", id_).cdi_devices == (name,)
        given = [(node.host, node.container, node.access) for node in plain.allocate("p", id_).nodes]
        assert [(node["hostPath"], node["path"], node["permissions"]) for node in edits] == given


@pytest.mark.parametrize("prefix", ["intel.com", "3com.com", "1.2", "a", "x-1.y", f"{'1' * 60}.{'a' * 60}.org"])
def test_a_vendor_begins_with_a_letter_whatever_the_prefix(prefix: str, tmp_path: Path) -> None:
    stage = Stage(tmp_path, h2(), {"resourceName": "Pool_1", "resourcePrefix": prefix, "selectors": {}}, cdi=True)

    (file,) = stage.cdi_directory.iterdir()
    vendor = json.loads(file.read_text(encoding="utf-8"))["kind"].partition("/")[0]

    assert VENDOR.fullmatch(vendor)
    assert prefix in vendor
    (name,) = stage.allocate("Pool_1", "0000:3b:01.0").cdi_devices
    assert name in resolvable(stage.cdi_directory)


def test_pools_of_all_kinds_side_by_side_describe_no_device_twice(tmp_path: Path) -> None:
    """Case F04: a PF's subfunctions and its VFs too."""
    host = vhost_net()
    host.pf("0000:5e:00.0", vendor="15b3", driver="mlx5_core", netdevs=["ens2f0"])
    host.adopt(host.functions["0000:5e:00.0"], subfunction(4, 88, RdmaDevice("mlx5_0", uverbs=0)))
    pools: list[dict[str, Any]] = [
        {"resourceName": "a", "selectors": {"pfNames": ["ens1f0#0-1"]}},
        {"resourceName": "b", "resourcePrefix": "nvidia.com", "selectors": {"pfNames": ["ens1f0#2"]}},
        {"resourceName": "c", "selectors": {"drivers": ["vfio-pci"], "needVhostNet": True}},
        {"resourceName": "d", "deviceType": "auxNetDevice", "selectors": {"isRdma": True}},
    ]
    stage = Stage(tmp_path, host, *pools, cdi=True)

    assert len(list(stage.cdi_directory.iterdir())) == 4
    assert len(resolvable(stage.cdi_directory)) == 5


def test_the_judge_refuses_what_the_specification_does() -> None:
    node = {"path": "/dev/a", "hostPath": "/dev/a"}
    device = {"name": "0000:3b:01.0", "containerEdits": {"deviceNodes": [node]}}
    good: dict[str, Any] = {"cdiVersion": "0.5.0", "kind": "intel.com/net-pci", "devices": [device]}
    bad: list[dict[str, Any]] = [
        {"cdiVersion": "0.3.0"},
        {"cdiVersion": "0.6.0"},
        {"cdiVersion": "9.9.9"},
        {"kind": "3com.com/net-pci"},
        {"kind": "intel.com/net-"},
        {"kind": "intel.com"},
        {"devices": []},
        {"devices": [device, device]},
        {"devices": [{**device, "containerEdits": {}}]},
        {"devices": [{**device, "name": ":x"}]},
        {"devices": [{**device, "containerEdits": {"deviceNodes": [{**node, "access": "rw"}]}}]},
        {"devices": [{**device, "containerEdits": {"deviceNodes": [{**node, "permissions": "rwx"}]}}]},
        {"devices": [{**device, "containerEdits": {"deviceNodes": [node, node]}}]},
        {"extra": 1},
    ]

    assert violations(json.dumps(good)) == []
    assert all(violations(json.dumps({**good, **change})) for change in bad)


def test_names_replace_nodes_and_never_join_them(tmp_path: Path) -> None:
    """Case F01."""
    stage = Stage(tmp_path, h2(), {"resourceName": "p", "selectors": {}}, cdi=True)

    granted = stage.allocate("p", *(f"0000:3b:01.{i}" for i in range(4)))

    assert (nodes(granted), len(granted.cdi_devices)) == ([], 4)

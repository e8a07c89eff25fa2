"""What containers are told in PCIDEVICE_… and PCIDEVICE_…_INFO (facts consumers.md 3)."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.auxiliary import subfunction
from tests.hosts.host import SimHost
from tests.hosts.iommu import VFIO
from tests.hosts.named import h1
from tests.hosts.rdma import RdmaDevice
from tests.hosts.uio import UioDevice
from tests.hosts.vdpa import VdpaDevice
from tests.hosts.vhost import TUN, VHOST_NET
from tests.unit.application.stage import Stage

VFS = [f"0000:5e:00.{i}" for i in range(2, 7)]
VF = "0000:3b:01.0"


def everything() -> SimHost:
    """A PF with a subfunction and with a VF on each of: vfio-pci, igb_uio, RDMA, vhost-vdpa, a kernel driver alone."""
    host = SimHost()
    pf = host.pf("0000:5e:00.0", vendor="15b3", driver="mlx5_core", netdevs=["ens2f0"], vf_driver="mlx5_core", offset=2)
    host.adopt(pf, subfunction(4, 88))
    host.vf(pf, 0, driver=VFIO, iommu_group=101)
    host.vf(pf, 1, driver="igb_uio", children=[UioDevice(3)])
    host.adopt(host.vf(pf, 2), RdmaDevice("mlx5_4", uverbs=4, umad=5, issm=6))
    host.adopt(host.vf(pf, 3), VdpaDevice("vdpa0", number=7))
    host.vf(pf, 4)
    host.nodes += (VHOST_NET, TUN)
    return host


def pool(name: str, **keys: Any) -> dict[str, Any]:
    return {"resourceName": name, "selectors": {}, **keys}


EXPECTED = {
    VFS[0]: {"vfio": {"mount": "/dev/vfio/vfio", "dev-mount": "/dev/vfio/101"}},
    VFS[1]: {"uio": {"mount": "/dev/uio3"}},
    VFS[2]: {
        "rdma": {
            "uverbs": "/dev/infiniband/uverbs4",
            "umad": "/dev/infiniband/umad5",
            "issm": "/dev/infiniband/issm6",
            "rdma_cm": "/dev/infiniband/rdma_cm",
            "rdma_dev": "mlx5_4",
        }
    },
    VFS[3]: {"vdpa": {"mount": "/dev/vhost-vdpa-7"}},
    VFS[4]: {"vhost": {"net-mount": "/dev/vhost-net", "tun-mount": "/dev/net/tun"}},
}


def test_every_provider_has_its_keys_on_the_first_call(tmp_path: Path) -> None:
    """Case E01."""
    selectors: list[dict[str, Any]] = [
        {"isRdma": True},
        {"vdpaType": "vhost"},
        {"pciAddresses": VFS[4:], "needVhostNet": True},
        {},
    ]
    stage = Stage(tmp_path, everything(), pool("all", selectors=selectors))

    environment = stage.allocate("all", *reversed(VFS)).environment

    assert environment["PCIDEVICE_INTEL_COM_ALL"] == ",".join(VFS)
    assert json.loads(environment["PCIDEVICE_INTEL_COM_ALL_INFO"]) == {
        id_: {"generic": {"deviceID": id_}, **facilities} for id_, facilities in EXPECTED.items()
    }
    assert set(environment) == {"PCIDEVICE_INTEL_COM_ALL", "PCIDEVICE_INTEL_COM_ALL_INFO"}


def test_values_of_info_are_texts_alone(tmp_path: Path) -> None:
    """The Go plugin's form is a map of maps of maps of strings."""
    stage = Stage(tmp_path, everything(), pool("all", selectors=[{"isRdma": True}, {}]))

    told = json.loads(stage.allocate("all", *VFS).environment["PCIDEVICE_INTEL_COM_ALL_INFO"])

    assert all(isinstance(v, str) for device in told.values() for keys in device.values() for v in keys.values())


def test_additional_info_of_one_id_wins_over_that_of_all(tmp_path: Path) -> None:
    extra = {"*": {"token": "all", "zone": "a"}, VF: {"token": "mine", "mac": "02:00"}}
    stage = Stage(tmp_path, h1(), pool("net", additionalInfo=extra))

    assert stage.info("net", VF)["extra"] == {"token": "mine", "zone": "a", "mac": "02:00"}
    assert stage.info("net", "0000:3b:01.1")["extra"] == {"token": "all", "zone": "a"}


def test_additional_info_of_one_id_is_told_of_no_other(tmp_path: Path) -> None:
    stage = Stage(tmp_path, h1(), pool("net", additionalInfo={VF: {"mac": "02:00"}}))

    assert stage.info("net", VF)["extra"] == {"mac": "02:00"}
    assert "extra" not in stage.info("net", "0000:3b:01.1")


def test_additional_info_of_a_subfunction_goes_by_its_name(tmp_path: Path) -> None:
    sf = "mlx5_core.sf.4"
    extra = {sf: {"queue": "3"}}
    stage = Stage(tmp_path, everything(), pool("sf", deviceType="auxNetDevice", additionalInfo=extra))

    assert stage.info("sf", sf)["extra"] == {"queue": "3"}


def test_a_name_with_a_dash_has_an_alias_that_a_shell_can_name(tmp_path: Path) -> None:
    stage = Stage(tmp_path, h1(), pool("my-net"))

    environment = stage.allocate("my-net", VF).environment

    assert environment["PCIDEVICE_INTEL_COM_MY-NET"] == environment["PCIDEVICE_INTEL_COM_MY_NET"] == VF
    assert environment["PCIDEVICE_INTEL_COM_MY-NET_INFO"] == environment["PCIDEVICE_INTEL_COM_MY_NET_INFO"]
    assert len(environment) == 4


@pytest.mark.parametrize("others", [("my_net",), ("my_net_info", "x"), ("my_net-info",)])
def test_an_alias_never_takes_the_variable_of_another_pool(others: tuple[str, ...], tmp_path: Path) -> None:
    """Of two values for one variable the kubelet keeps the first it meets."""
    stage = Stage(tmp_path, h1(), pool("my-net"), *(pool(other, selectors=[]) for other in others))

    mine = stage.allocate("my-net", VF).environment
    theirs = {
        v for spec in stage.specs[1:] for n in spec.name.variables[: 1 + spec.shell_alias] for v in (n, f"{n}_INFO")
    }

    assert not theirs & set(mine)
    assert mine["PCIDEVICE_INTEL_COM_MY-NET"] == VF


@pytest.mark.parametrize("names", [("a-b_c", "a_b-c"), ("a_b-c", "a-b_c"), ("a-b", "a_b")])
def test_no_two_pools_tell_their_devices_in_one_variable(names: tuple[str, str], tmp_path: Path) -> None:
    """Aliases may coincide where the names do not."""
    pools = (pool(n, selectors={"pciAddresses": [f"0000:3b:01.{i}"]}) for i, n in enumerate(names))
    stage = Stage(tmp_path, h1(), *pools)

    told = [set(stage.allocate(n, f"0000:3b:01.{i}").environment) for i, n in enumerate(names)]

    assert not told[0] & told[1]

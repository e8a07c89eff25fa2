"""Pools of subfunctions: auxiliary devices of a SmartNIC's function."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.hosts.auxiliary import AuxiliaryDevice, subfunction
from tests.hosts.function import Function
from tests.hosts.host import SimHost
from tests.hosts.netdev import Netdev
from tests.hosts.rdma import RdmaDevice
from tests.hosts.representor import switchdev
from tests.hosts.vdpa import VdpaDevice
from tests.hosts.vhost import TUN, VHOST_NET
from tests.unit.application.stage import Stage, nodes

PF = "0000:08:00.0"
SF4, SF5, SF6 = (f"mlx5_core.sf.{number}" for number in (4, 5, 6))


def host(*ports: Netdev) -> tuple[SimHost, Function]:
    """A PF on NUMA node 1 with three subfunctions: 88 and 89 do RDMA, 100 has a network interface alone."""
    host = SimHost()
    pf = host.pf(
        PF, vendor="15b3", device="a2d6", driver="mlx5_core", netdevs=ports or ("p0",), numa=1, totalvfs=0, children=()
    )
    host.adopt(
        pf,
        *(AuxiliaryDevice(f"mlx5_core.{kind}.0") for kind in ("eth", "rdma")),
        RdmaDevice("mlx5_0", uverbs=0),
        subfunction(4, 88, Netdev("p0s88"), RdmaDevice("mlx5_8", uverbs=8, umad=8, issm=8)),
        subfunction(5, 89, Netdev("p0s89"), RdmaDevice("mlx5_9", uverbs=9)),
        subfunction(6, 100, Netdev("p0s100")),
    )
    return host, pf


def pool(**selectors: object) -> dict[str, object]:
    return {"resourceName": "sf", "deviceType": "auxNetDevice", "selectors": selectors}


def test_a_subfunction_is_called_by_its_auxiliary_name_everywhere(tmp_path: Path) -> None:
    """Case E16."""
    stage = Stage(tmp_path, host()[0], pool(auxTypes=["sf"]))

    environment = stage.allocate("sf", SF4).environment
    assert environment["PCIDEVICE_INTEL_COM_SF"] == SF4
    assert stage.info("sf", SF4) == {"generic": {"deviceID": SF4}}
    assert stage.device_info("sf", SF4) == {
        "type": "pci",
        "version": "1.1.0",
        "pci": {"pci-address": PF, "pf-pci-address": PF},
    }


def test_additional_info_of_a_subfunction_may_be_given_by_its_functions_address(tmp_path: Path) -> None:
    """As the Go plugin has it; by its own name it is told more closely."""
    extra = {"*": {"a": "all", "b": "all", "c": "all"}, PF: {"b": "function", "c": "function"}, SF4: {"c": "own"}}
    stage = Stage(tmp_path, host()[0], {**pool(auxTypes=["sf"]), "additionalInfo": extra})

    assert stage.info("sf", SF4)["extra"] == {"a": "all", "b": "function", "c": "own"}
    assert stage.info("sf", SF5)["extra"] == {"a": "all", "b": "function", "c": "function"}


def test_other_auxiliary_devices_are_no_subfunctions(tmp_path: Path) -> None:
    stage = Stage(tmp_path, host()[0], pool())

    assert list(stage.listed("sf")) == [SF4, SF5, SF6]


def test_the_numbers_behind_a_pf_name_are_those_the_creator_gave(tmp_path: Path) -> None:
    stage = Stage(tmp_path, host()[0], pool(pfNames=["p0#88-99"]))

    assert list(stage.listed("sf")) == [SF4, SF5]
    assert stage.why_not(SF6) == "pfNames: wanted p0#88-99, found p0#100"


@pytest.mark.parametrize(
    "selectors",
    [
        {"vendors": ["15b3"], "devices": ["a2d6"], "drivers": ["mlx5_core"]},
        {"rootDevices": [f"{PF}#88,89,100"]},
        {"pciAddresses": [PF]},
        {"linkTypes": ["ether"], "numaNodes": [1]},
    ],
)
def test_subfunctions_are_selected_by_the_facts_of_their_function(selectors: dict[str, object], tmp_path: Path) -> None:
    assert list(Stage(tmp_path, host()[0], pool(**selectors)).listed("sf")) == [SF4, SF5, SF6]


def test_a_subfunction_is_on_the_numa_node_of_its_function(tmp_path: Path) -> None:
    """Case G06."""
    assert Stage(tmp_path, host()[0], pool()).numa_nodes("sf") == {SF4: 1, SF5: 1, SF6: 1}


def test_subfunctions_of_a_pf_with_the_default_route_are_offered_and_the_pf_is_not(tmp_path: Path) -> None:
    """Case D12."""
    described, _ = host()
    described.default_route("p0", "192.0.2.1")
    stage = Stage(tmp_path, described, pool(), {"resourceName": "net", "selectors": {}})

    assert list(stage.listed("sf")) == [SF4, SF5, SF6]
    assert stage.listed("net") == {}
    assert "default route via p0" in stage.why_not(PF)


def test_a_subfunction_whose_own_interface_the_host_uses_is_the_hosts(tmp_path: Path) -> None:
    """Case D12: the guard is for each device alone."""
    described, _ = host()
    described.over("bridge", "br0", "p0s88")
    described.default_route("p0s89", "fe80::1")
    stage = Stage(tmp_path, described, pool())

    assert list(stage.listed("sf")) == [SF6]
    assert "bridge br0 on p0s88" in stage.why_not(SF4)
    assert "IPv6 default route via p0s89" in stage.why_not(SF5)


def test_rdma_and_vhost_nodes_are_those_of_the_subfunction(tmp_path: Path) -> None:
    """Case E13: subfunctions too."""
    described, _ = host()
    described.nodes += (VHOST_NET, TUN)
    stage = Stage(tmp_path, described, pool(isRdma=True, needVhostNet=True))

    assert list(stage.listed("sf")) == [SF4, SF5]
    names = ("uverbs8", "umad8", "issm8", "rdma_cm")
    assert nodes(stage.allocate("sf", SF4)) == [
        *(f"/dev/infiniband/{name}" for name in names),
        "/dev/vhost-net",
        "/dev/net/tun",
    ]
    assert stage.device_info("sf", SF4)["pci"]["rdma-device"] == "mlx5_8"
    assert stage.device_info("sf", SF4)["pci"]["vhost-net"] == "/dev/vhost-net"
    assert stage.why_not(SF6) == "isRdma: wanted an RDMA device, found none"


def test_a_vdpa_device_of_a_subfunction_is_found_below_it(tmp_path: Path) -> None:
    described, pf = host()
    described.adopt(pf, subfunction(7, 101, VdpaDevice("vdpa3", number=3)))
    stage = Stage(tmp_path, described, pool(vdpaType="vhost"))

    assert list(stage.listed("sf")) == ["mlx5_core.sf.7"]
    assert nodes(stage.allocate("sf", "mlx5_core.sf.7")) == ["/dev/vhost-vdpa-3"]
    assert stage.device_info("sf", "mlx5_core.sf.7")["vdpa"]["parent-device"] == "vdpa3"


def test_in_switchdev_mode_the_cni_side_is_told_the_representor(tmp_path: Path) -> None:
    representor = Netdev("pf0sf88", phys_switch_id="aa", phys_port_name="pf0sf88")
    vf_of_that_number = Netdev("eth88", phys_switch_id="aa", phys_port_name="pf0vf88")
    ports = switchdev(Netdev("p0"), 2, switch_id="aa")
    stage = Stage(tmp_path, host(vf_of_that_number, representor, *ports)[0], pool(pfNames=["p0"]))

    assert stage.device_info("sf", SF4)["pci"]["representor-device"] == "pf0sf88"
    assert "representor-device" not in stage.device_info("sf", SF5)["pci"]


def test_a_subfunction_without_a_driver_is_left_out_with_the_reason(tmp_path: Path) -> None:
    described, pf = host()
    pf.children[:] = [
        replace(c, bound=False) if isinstance(c, AuxiliaryDevice) and c.name == SF5 else c for c in pf.children
    ]
    stage = Stage(tmp_path, described, pool())

    assert list(stage.listed("sf")) == [SF4, SF6]
    assert stage.why_not(SF5) == "driver: wanted any driver, found none bound"

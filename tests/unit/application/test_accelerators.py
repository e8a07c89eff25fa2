"""Pools of accelerators: FEC, QAT and whatever else is no network card."""

from pathlib import Path

import pytest

from tests.hosts.host import SimHost
from tests.hosts.ids import ACCELERATOR
from tests.hosts.iommu import VFIO
from tests.unit.application.stage import Stage, nodes

FEC = [f"0000:8a:00.{i}" for i in range(1, 4)]
QAT, GPU, NIC = "0000:70:00.1", "0000:e0:00.1", "0000:3b:00.0"


def host() -> SimHost:
    """A FEC card with three VFs, a QAT VF, a GPU VF and a NIC, all on vfio-pci but the FEC's PF."""
    host = SimHost()
    fec = host.pf(
        "0000:8a:00.0", device="0d5c", class_code=ACCELERATOR, driver="pci-pf-stub", vf_device="0d5d", offset=1
    )
    host.vfs(fec, 3, driver=VFIO, acpi_index=7)
    host.function(QAT, device="4941", class_code="0b4000", driver=VFIO)
    host.function(GPU, vendor="10de", device="2336", class_code="030200", driver=VFIO)
    host.function(NIC, driver=VFIO)
    return host


def pool(**selectors: object) -> dict[str, object]:
    return {"resourceName": "acc", "deviceType": "accelerator", "selectors": selectors}


def test_accelerators_are_handed_out_by_their_nodes_and_no_cni_plugin_is_told(tmp_path: Path) -> None:
    stage = Stage(tmp_path, host(), pool())

    group = stage.table.host.functions[stage.trail(FEC[1]).device.function.address].iommu_group
    assert list(stage.listed("acc").items()) == [(id_, None) for id_ in FEC]
    assert nodes(stage.allocate("acc", FEC[1])) == ["/dev/vfio/vfio", f"/dev/vfio/{group}"]
    assert stage.info("acc", FEC[1])["vfio"] == {"mount": "/dev/vfio/vfio", "dev-mount": f"/dev/vfio/{group}"}
    assert not (tmp_path / "devinfo").exists()


@pytest.mark.parametrize(
    "selectors",
    [
        {"vendors": ["8086"], "devices": ["0d5d"]},
        {"drivers": ["vfio-pci"]},
        {"pciAddresses": FEC},
        {"acpiIndexes": ["7"]},
        {"rootDevices": ["0000:8a:00.0"]},
        {"vfOnly": True, "numaNodes": [0]},
    ],
)
def test_accelerators_are_selected_by_what_every_function_has(selectors: dict[str, object], tmp_path: Path) -> None:
    assert list(Stage(tmp_path, host(), pool(**selectors)).listed("acc")) == FEC


def test_other_classes_are_no_accelerators_and_the_trail_names_the_class(tmp_path: Path) -> None:
    """Case D20: today's contract."""
    stage = Stage(tmp_path, host(), pool(pciAddresses=[QAT, GPU, NIC]))

    assert stage.listed("acc") == {}
    assert stage.why_not(QAT) == "pciClasses: wanted 12, found 0b4000"
    assert stage.why_not(GPU) == "pciClasses: wanted 12, found 030200"
    assert stage.why_not(NIC) == "pciClasses: wanted 12, found 020000"


@pytest.mark.parametrize(
    ("classes", "chosen"),
    [
        (["0b40"], [QAT]),
        (["0x0B4000"], [QAT]),
        (["0b", "03"], [QAT, GPU]),
        (["12", "0b40"], [QAT, *FEC]),
    ],
)
def test_classes_that_are_asked_for_are_served_with_their_nodes(
    classes: list[str], chosen: list[str], tmp_path: Path
) -> None:
    """Case D20: the opt-in."""
    stage = Stage(tmp_path, host(), pool(pciClasses=classes))

    assert list(stage.listed("acc")) == chosen
    assert nodes(stage.allocate("acc", QAT))[0] == "/dev/vfio/vfio"


def test_a_class_can_be_excluded_from_those_that_are_asked_for(tmp_path: Path) -> None:
    stage = Stage(tmp_path, host(), pool(pciClasses=["0b", "03", "12"], exclude=[{"pciClasses": ["03"]}]))

    assert list(stage.listed("acc")) == [QAT, *FEC]


def test_a_pf_without_an_interface_matches_no_pf_name(tmp_path: Path) -> None:
    stage = Stage(tmp_path, host(), pool(pfNames=["ens1f0"]))

    assert stage.listed("acc") == {}
    assert stage.why_not(FEC[0]) == "pfNames: wanted ens1f0, found none#0"


def test_an_accelerators_pf_with_vfs_is_no_device(tmp_path: Path) -> None:
    stage = Stage(tmp_path, host(), pool())

    assert stage.why_not("0000:8a:00.0") == "PF with VFs: wanted a VF, or a PF without VFs, found 3 VFs configured"


def test_a_network_pool_beside_has_the_nic_and_no_accelerator(tmp_path: Path) -> None:
    stage = Stage(tmp_path, host(), {"resourceName": "net", "selectors": {}}, pool())

    assert (list(stage.listed("net")), list(stage.listed("acc"))) == ([NIC], FEC)


def test_an_id_of_another_pool_is_refused_with_the_id_and_the_pool(tmp_path: Path) -> None:
    """Case E08."""
    stage = Stage(tmp_path, host(), {"resourceName": "net", "selectors": {}}, pool())

    assert stage.refused("acc", FEC[0], NIC) == f"{NIC} is not in pool intel.com/acc"

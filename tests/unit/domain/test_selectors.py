from dataclasses import replace
from typing import Any

import pytest

from domain.device import Device, pci_device
from domain.index_ranges import IndexRanges
from domain.pf_selectors import PfNames, RootDevices
from domain.selector import Refusal, Selector
from domain.selectors import AcpiIndexes, Devices, Drivers, LinkTypes, PciAddresses, Vendors
from tests.unit.domain.facts import at, function, h1, host, pf, vf


def of_h1(index: int = 1, **facts: Any) -> Device:
    return pci_device(h1(**facts), at(f"0000:3b:01.{index}"), {})


def pf_names(*entries: str) -> PfNames:
    return PfNames.of(IndexRanges.split(entry) for entry in entries)


@pytest.mark.parametrize(
    ("selector", "facts"),
    [
        (Vendors.of(["15b3", "8086"]), {}),
        (Devices.of(["1889"]), {}),
        (Devices.of(["ABCD"]), {"device": "abcd"}),
        (Drivers.of(["vfio-pci"]), {"driver": "vfio-pci"}),
        (PciAddresses.of([at("3b:01.1")]), {}),
        (AcpiIndexes.of(["101"]), {"acpi_index": "101"}),
        (LinkTypes.of(["ether"]), {}),
        (pf_names("ens1f0"), {}),
        (pf_names("ENS1F0#1"), {}),
        (pf_names("ens1f0#0", "ens1f0#1"), {}),
        (RootDevices.of([IndexRanges.split("0000:3b:00.0#1-2")]), {}),
    ],
)
def test_a_selector_accepts_what_it_lists(selector: Selector, facts: dict[str, Any]) -> None:
    found = of_h1(**facts)

    assert selector.accepts(found)
    assert selector.refusal(found) is None


@pytest.mark.parametrize(
    ("selector", "facts", "refusal"),
    [
        (Vendors.of(["15b3"]), {}, Refusal("vendors", "15b3", "8086")),
        (Devices.of(["1889", "154c"]), {"device": "1592"}, Refusal("devices", "154c or 1889", "1592")),
        (Drivers.of(["vfio-pci"]), {}, Refusal("drivers", "vfio-pci", "iavf")),
        (Drivers.of(["vfio-pci"]), {"driver": None}, Refusal("drivers", "vfio-pci", "none")),
        (PciAddresses.of(["0000:3b:01.0"]), {}, Refusal("pciAddresses", "0000:3b:01.0", "0000:3b:01.1")),
        (AcpiIndexes.of(["7"]), {}, Refusal("acpiIndexes", "7", "none")),
        (LinkTypes.of(["infiniband"]), {}, Refusal("linkTypes", "infiniband", "ether")),
        (pf_names("ens1f0#2-3", "ens9"), {}, Refusal("pfNames", "ens1f0#2-3 or ens9", "ens1f0#1")),
        (pf_names("ens1"), {}, Refusal("pfNames", "ens1", "ens1f0#1")),
        (
            RootDevices.of([IndexRanges.split("0000:3b:00.1")]),
            {},
            Refusal("rootDevices", "0000:3b:00.1", "0000:3b:00.0#1"),
        ),
    ],
)
def test_a_refusal_names_what_was_wanted_and_what_was_found(
    selector: Selector, facts: dict[str, Any], refusal: Refusal
) -> None:
    found = of_h1(**facts)

    assert not selector.accepts(found)
    assert selector.refusal(found) == refusal


def test_a_pf_is_chosen_by_its_address_and_not_by_its_name() -> None:
    """Case D13 (2): pfNames stands for the VFs of a PF, of which there are none."""
    nic = pci_device(host(pf(vfs=0)), at("0000:3b:00.0"), {})

    assert not pf_names("ens1f0").accepts(nic)
    assert RootDevices.of([IndexRanges.split("0000:3b:00.0")]).accepts(nic)
    assert not RootDevices.of([IndexRanges.split("0000:3b:00.0#0")]).accepts(nic)


def test_a_vf_whose_pf_has_no_interface_matches_no_name() -> None:
    """Case D04: the name is not empty, there is none."""
    seen = host(replace(pf(), interfaces=()), vf(0))

    assert not pf_names("ens1f0").accepts(pci_device(seen, at("0000:3b:01.0"), {}))


def test_a_vf_on_a_userspace_driver_has_the_link_type_of_its_pf() -> None:
    """Case D27."""
    seen = host(pf(), vf(0, driver="vfio-pci"))

    assert pci_device(seen, at("0000:3b:01.0"), {}).link_type == "ether"


@pytest.mark.parametrize(
    ("facts", "link_type"),
    [
        ({"class_code": 0x020000}, "ether"),
        ({"class_code": 0x020700, "driver": "mlx5_core", "interfaces_away": True}, "infiniband"),
        ({"class_code": 0x120000}, None),
        ({"driver": "vfio-pci"}, None),
        ({"driver": "mlx5_vfio_pci", "vfio_device": "vfio0"}, None),
        ({"driver": "igb_uio", "uio": "uio0"}, None),
        ({"driver": None}, None),
    ],
)
def test_a_function_without_any_interface_to_ask_has_the_link_type_of_its_class_if_its_driver_makes_interfaces(
    facts: dict[str, Any], link_type: str | None
) -> None:
    """Cases B10, C02: its interface is in a pod."""
    assert pci_device(host(function("0000:00:06.0", **facts)), at("0000:00:06.0"), {}).link_type == link_type


def test_a_vf_in_a_guest_has_its_own_link_type() -> None:
    seen = host(function("0000:00:06.0", interfaces=["eth1"]))

    assert pci_device(seen, at("0000:00:06.0"), {}).link_type == "ether"

import pytest

from domain.device import pci_device
from domain.device_info import device_info, may_be_ours
from domain.host import Host, NetInterface
from domain.pool import DeviceSelector, Member
from domain.resource_name import ResourceName
from tests.unit.domain.facts import at, function, host, pf, vf

RESOURCE = ResourceName("intel.com", "p")


def content(seen: Host, address: str) -> object:
    return device_info(seen, RESOURCE, Member(pci_device(seen, at(address), {}), DeviceSelector())).content


def test_a_vf_is_described_with_its_pf() -> None:
    """Case E10."""
    assert content(host(pf(), vf(2)), "0000:3b:01.2") == {
        "type": "pci",
        "version": "1.1.0",
        "pci": {"pci-address": "0000:3b:01.2", "pf-pci-address": "0000:3b:00.0"},
    }


def test_a_vf_of_a_switchdev_pf_is_described_with_its_representor() -> None:
    ports = [NetInterface("ens1f0", 1, "p0", "aa"), NetInterface("ens1f0_2", 1, "pf0vf2", "aa")]

    described = content(host(pf(interfaces=ports), vf(2)), "0000:3b:01.2")

    assert described["pci"]["representor-device"] == "ens1f0_2"  # type: ignore[index]


def test_a_function_that_is_no_vf_has_no_pf_besides() -> None:
    assert content(host(function("0000:01:00.0")), "0000:01:00.0") == {
        "type": "pci",
        "version": "1.1.0",
        "pci": {"pci-address": "0000:01:00.0"},
    }


def test_every_slash_in_the_file_name_becomes_a_dash() -> None:
    seen = host(pf(), vf(1))

    record = device_info(seen, RESOURCE, Member(pci_device(seen, at("0000:3b:01.1"), {}), DeviceSelector()))

    assert record.file_name == "intel.com-p-0000:3b:01.1-device.json"


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("a.com-pool-0000:3b:01.0-device.json", True),
        ("a.com-Some_pool-x-10000:3b:01.0-device.json", True),
        ("a.com-pool-mlx5_core.sf.4-device.json", True),
        ("a.com-b.org-pool-0000:3b:01.0-device.json", False),
        ("a.com-b-c.org-pool-0000:3b:01.0-device.json", False),
        ("a.com-b-c.org-pool-mlx5_core.sf.4-device.json", False),
        ("axcom-pool-0000:3b:01.0-device.json", False),
        ("a.com-pool-GPU-1234-device.json", False),
        ("a.com-0000:3b:01.0-device.json", False),
    ],
)
def test_files_of_a_prefix_are_told_from_those_of_longer_ones(name: str, ours: bool) -> None:
    assert may_be_ours(name, "a.com") is ours

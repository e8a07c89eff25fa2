"""What the configuration says of kinds of devices and of what containers need; its errors with line and column."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.config.config_file import ConfigFile
from application.ports.pool_configuration import Configuration, ConfigurationInvalid, Problem
from domain.facility_selectors import DdpProfiles, HasVdpa, IsRdma, PKeys, VdpaType
from domain.pool import DeviceSelector, DeviceType
from domain.selectors import AuxTypes, LinkTypes, PciClasses, Vendors


def load(tmp_path: Path, text: str) -> Configuration:
    file = tmp_path / "node-1"
    file.write_text(text, encoding="utf-8")
    return ConfigFile(file, "intel.com").load()


def problems(tmp_path: Path, text: str) -> tuple[Problem, ...]:
    with pytest.raises(ConfigurationInvalid) as caught:
        load(tmp_path, text)
    return caught.value.problems


def file_with(selectors: dict[str, Any], device_type: str = "netDevice") -> str:
    """A file whose third line has the selector object, each key from column 3 on."""
    pool = json.dumps({"resourceName": "p", "deviceType": device_type})[:-1]
    return f'{{"resourceList": [{pool}, "selectors":\n [\n  {json.dumps(selectors)}]}}]}}'


BAD = [
    ("netDevice", {"isRdma": True, "vdpaType": "vhost"}, ".vdpaType", 32, "vdpaType and isRdma exclude each other"),
    ("netDevice", {"vdpaType": "vhots"}, ".vdpaType", 16, "'vhots' is no vDPA type"),
    ("netDevice", {"auxTypes": ["sf"]}, ".auxTypes", 16, "auxTypes is for deviceType auxNetDevice, not netDevice"),
    ("netDevice", {"pciClasses": ["12"]}, ".pciClasses", 18, "pciClasses is for deviceType accelerator, not netDevice"),
    ("auxNetDevice", {"pciClasses": ["12"]}, ".pciClasses", 18, "accelerator, not auxNetDevice"),
    ("auxNetDevice", {"ddpProfiles": ["a"]}, ".ddpProfiles", 19, "is for deviceType netDevice, not auxNetDevice"),
    ("auxNetDevice", {"vfOnly": True}, ".vfOnly", 14, "is for deviceType netDevice, not auxNetDevice"),
    ("accelerator", {"ddpProfiles": ["a"]}, ".ddpProfiles", 19, "ddpProfiles is for network devices, not accelerator"),
    ("accelerator", {"isRdma": True}, ".isRdma", 14, "isRdma is for network devices, not accelerator"),
    ("accelerator", {"needVhostNet": True}, ".needVhostNet", 20, "needVhostNet is for network devices"),
    ("accelerator", {"vdpaType": "vhost"}, ".vdpaType", 16, "vdpaType is for network devices"),
    ("accelerator", {"pKeys": ["0x7fff"]}, ".pKeys", 13, "pKeys is for network devices"),
    ("accelerator", {"auxTypes": ["sf"]}, ".auxTypes", 16, "auxTypes is for network devices"),
    ("accelerator", {"pciClasses": ["12", "0x0b4"]}, ".pciClasses[1]", 25, "'0x0b4' is no PCI class"),
    ("netDevice", {"pfNames": ["re:ens[1"]}, ".pfNames[0]", 16, "'re:ens[1' is no regular expression"),
    ("netDevice", {"pfNames": ["re:a{99999999999}"]}, ".pfNames[0]", 16, "is no regular expression"),
    ("netDevice", {"pfNames": ["re:e", "re:#x"]}, ".pfNames[1]", 24, "no VF index"),
    ("netDevice", {"exclude": [{"devices": ["1592"]}, {}]}, ".exclude[1]", 39, "excludes every device"),
    ("netDevice", {"exclude": [{"pfNames": ["e#x"]}]}, ".exclude[0].pfNames[0]", 29, "no VF index"),
    ("netDevice", {"exclude": [{"vdpaType": "x"}]}, ".exclude[0].vdpaType", 29, "'x' is no vDPA type"),
    ("netDevice", {"numaNodes": ["0"]}, ".numaNodes[0]", 18, '"0"'),
    ("netDevice", {"numaNodes": 0}, ".numaNodes", 17, "expected a list, not 0"),
    ("netDevice", {"allowHostUse": "yes"}, ".allowHostUse", 20, "expected true or false"),
    ("netDevice", {"exclude": "1592"}, ".exclude", 15, "expected a list"),
]


@pytest.mark.parametrize(("device_type", "selectors", "where", "column", "message"), BAD)
def test_what_cannot_work_is_refused_once_at_its_place(
    device_type: str, selectors: dict[str, Any], where: str, column: int, message: str, tmp_path: Path
) -> None:
    """Cases E14, D17, D20: isRdma with vdpaType, and keys of another kind of devices."""
    (problem,) = problems(tmp_path, file_with(selectors, device_type))

    assert problem.where == f"resourceList[0].selectors[0]{where}"
    assert (problem.line, problem.column) == (3, column)
    assert message in problem.message


@pytest.mark.parametrize(
    ("selectors", "where", "message"),
    [
        ({"pfNames": ["ens1f0"]}, ".pfNames", "matches nothing"),
        ({"linkTypes": ["ether"]}, ".linkTypes", "says nothing"),
        ({"exclude": [{"pfNames": ["ens1f0"]}]}, ".exclude[0].pfNames", "matches nothing"),
    ],
)
def test_what_no_accelerator_has_is_doubted_at_its_place(
    selectors: dict[str, Any], where: str, message: str, tmp_path: Path
) -> None:
    """Case D23: the Go plugin takes no notice of these keys, and its pool has devices."""
    (warning,) = load(tmp_path, file_with(selectors, "accelerator")).warnings

    assert (warning.where, warning.line, warning.fatal) == (f"resourceList[0].selectors[0]{where}", 3, False)
    assert warning.message.startswith(message)


def test_accelerators_are_not_asked_for_a_link(tmp_path: Path) -> None:
    """As in the Go plugin: none has one, and the pool would be empty."""
    found = load(tmp_path, file_with({"linkTypes": ["ether"], "vendors": ["8086"]}, "accelerator"))

    assert found.pools[0].selectors == (DeviceSelector((PciClasses(("12",)), Vendors.of(["8086"]))),)


def test_classes_that_are_asked_for_may_have_links_and_names(tmp_path: Path) -> None:
    text = file_with({"pciClasses": ["02"], "linkTypes": ["ether"], "pfNames": ["ens1f0"]}, "accelerator")

    found = load(tmp_path, text)

    assert found.warnings == ()
    assert LinkTypes.of(["ether"]) in found.pools[0].selectors[0].selectors


@pytest.mark.parametrize(
    ("device_type", "key", "value"),
    [
        ("netDevice", "auxTypes", ["sf"]),
        ("netDevice", "pciClasses", ["12"]),
        ("accelerator", "ddpProfiles", ["a"]),
        ("accelerator", "pciClasses", ["zz"]),
        ("auxNetDevice", "vfOnly", True),
    ],
)
def test_an_excluded_object_obeys_the_rules_of_the_others(
    device_type: str, key: str, value: object, tmp_path: Path
) -> None:
    """What can never match excludes nothing, and looks right."""
    (problem,) = problems(tmp_path, file_with({"exclude": [{"drivers": ["x"], key: value}]}, device_type))

    assert problem.where.startswith(f"resourceList[0].selectors[0].exclude[0].{key}")


@pytest.mark.parametrize("key", ["needVhostNet", "allowHostUse"])
def test_what_is_no_condition_has_no_place_in_an_excluded_object(key: str, tmp_path: Path) -> None:
    """It would be taken for one: exclude what needs vhost-net."""
    text = file_with({"exclude": [{"drivers": ["iavf"], key: True}]})
    try:
        told = load(tmp_path, text).warnings
    except ConfigurationInvalid as invalid:
        told = invalid.problems

    assert [p.where for p in told] == [f"resourceList[0].selectors[0].exclude[0].{key}"]


def test_a_pattern_nested_without_end_is_refused_and_crashes_nothing(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, file_with({"pfNames": [f"re:{'(' * 600}{')' * 600}"]}))

    assert problem.where == "resourceList[0].selectors[0].pfNames[0]"


def test_keys_of_facilities_are_read_as_the_operator_writes_them(tmp_path: Path) -> None:
    """Case D22: CamelCase, and lower case throughout."""
    network: list[dict[str, Any]] = [
        {"IsRdma": True, "NeedVhostNet": True, "PKeys": ["0x7fff"], "DdpProfiles": ["COMMS"]},
        {"VdpaType": "virtio", "needvhostnet": False, "isrdma": False},
    ]
    rdma, virtio = load(tmp_path, json.dumps({"resourceList": [pool("p", selectors=network)]})).pools[0].selectors

    assert (rdma.rdma, rdma.vhost_net, rdma.vdpa) == (True, True, None)
    assert {PKeys.of(["0x7fff"]), DdpProfiles.of(["COMMS"]), IsRdma()} <= set(rdma.selectors)
    assert (virtio.rdma, virtio.vhost_net, virtio.vdpa) == (False, False, VdpaType.VIRTIO)
    assert HasVdpa(VdpaType.VIRTIO) in virtio.selectors


def test_device_types_are_read_in_any_letter_case_with_their_classes(tmp_path: Path) -> None:
    sf = pool("a", deviceType="AuxNetDevice", selectors={"AuxTypes": ["SF"]})
    fec = pool("b", deviceType="ACCELERATOR", selectors=[{}, {"PciClasses": ["0x0B40", "12"]}])

    first, second = load(tmp_path, json.dumps({"resourceList": [sf, fec]})).pools

    assert first.device_type is DeviceType.AUX_NET_DEVICE
    assert first.selectors[0].selectors == (PciClasses(("02",)), AuxTypes.of(["sf"]))
    assert second.device_type is DeviceType.ACCELERATOR
    assert second.selectors == (DeviceSelector((PciClasses(("12",)),)), DeviceSelector((PciClasses(("0b40", "12")),)))


def test_an_empty_vdpa_type_asks_for_none(tmp_path: Path) -> None:
    """The operator writes it so."""
    found = load(tmp_path, file_with({"vdpaType": "", "isRdma": True}))

    assert found.pools[0].selectors[0].vdpa is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("a.b", "c"), ("a", "b_c")),
        (("intel.com", "Net"), ("intel.com", "net")),
        (("intel.com", "net"), ("intel.com", "net_info")),
        (("intel.com", "x-y_INFO"), ("intel.com", "x-y")),
    ],
)
def test_pools_whose_variables_collapse_are_refused_at_the_second_with_both_names(
    first: tuple[str, str], second: tuple[str, str], tmp_path: Path
) -> None:
    """Facts consumers.md 3: of two values the kubelet keeps the first it meets."""
    entries = (json.dumps(pool(name, resourcePrefix=prefix)) for prefix, name in (first, second))

    (problem,) = problems(tmp_path, '{"resourceList": [\n%s,\n%s]}' % tuple(entries))  # noqa: UP031 - braces

    assert (problem.line, problem.column) == (3, 18)
    for name in ("/".join(first), "/".join(second), "PCIDEVICE_"):
        assert name in problem.message


def pool(name: str, **keys: Any) -> dict[str, Any]:
    return {"resourceName": name, "selectors": {}, **keys}

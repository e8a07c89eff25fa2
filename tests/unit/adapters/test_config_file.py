import json
import os
from pathlib import Path
from typing import Any

import pytest

from adapters.config.config_file import ConfigFile
from application.ports.pool_configuration import Configuration, ConfigurationInvalid, Problem
from domain.index_ranges import IndexRanges
from domain.pf_selectors import PfNames, RootDevices
from domain.pool import DeviceSelector
from domain.selectors import AcpiIndexes, Devices, Drivers, LinkTypes, PciAddresses, PciClasses, Vendors

NETWORK = PciClasses(("02",))


class File:
    """A configuration file under test."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self, text: str | dict[str, Any], *, strict: bool = False) -> Configuration:
        self.path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        return ConfigFile(self.path, "intel.com", strict=strict).load()

    def refused(self, text: str | dict[str, Any], *, strict: bool = False) -> tuple[Problem, ...]:
        with pytest.raises(ConfigurationInvalid) as caught:
            self.load(text, strict=strict)
        assert str(self.path) in str(caught.value)
        return caught.value.problems


@pytest.fixture
def file(tmp_path: Path) -> File:
    return File(tmp_path / "node-1")


def one(**keys: Any) -> dict[str, Any]:
    return {"resourceList": [{"resourceName": "p", "selectors": {}, **keys}]}


def test_every_selector_is_read(file: File) -> None:
    found = file.load(
        one(
            selectors=[
                {
                    "vendors": ["8086"],
                    "devices": ["154C"],
                    "drivers": ["iavf"],
                    "acpiIndexes": ["101"],
                    "linkTypes": ["ether"],
                    "pciAddresses": ["3B:02.0"],
                    "pfNames": ["ens1f0#0-3", "ens1f1"],
                    "rootDevices": ["86:00.0#1"],
                },
                {},
            ]
        )
    )

    assert found.warnings == ()
    assert found.pools[0].selectors == (
        DeviceSelector(
            (
                NETWORK,
                Vendors.of(["8086"]),
                Devices.of(["154c"]),
                Drivers.of(["iavf"]),
                AcpiIndexes.of(["101"]),
                LinkTypes.of(["ether"]),
                PciAddresses.of(["0000:3b:02.0"]),
                PfNames.of(map(IndexRanges.split, ("ens1f0#0-3", "ens1f1"))),
                RootDevices.of([IndexRanges.split("0000:86:00.0#1")]),
            )
        ),
        DeviceSelector((NETWORK,)),
    )


def test_policies_are_read_and_the_prefix_of_a_pool_wins(file: File) -> None:
    found = file.load(
        one(
            resourcePrefix="example.com", deviceType="netDevice", excludeTopology=True, additionalInfo={"*": {"a": "b"}}
        )
    )

    pool = found.pools[0]
    assert str(pool.name) == "example.com/p"
    assert pool.exclude_topology
    assert pool.additional_info == {"*": {"a": "b"}}


def test_keys_as_the_operator_writes_them_are_read(file: File) -> None:
    """Case D22: object instead of list, other letter case, null extras."""
    found = file.load(
        {
            "resourceList": [
                {
                    "resourcename": "x",
                    "ResourcePrefix": None,
                    "selectors": {"pfNames": ["ens1f0#0-1"], "IsRdma": False, "pciaddresses": ["0000:3b:01.0"]},
                    "SelectorObj": None,
                }
            ]
        }
    )

    assert found.warnings == ()
    assert str(found.pools[0].name) == "intel.com/x"
    kinds = [type(s) for s in found.pools[0].selectors[0].selectors]
    assert kinds == [PciClasses, PciAddresses, PfNames]


@pytest.mark.parametrize("empty", ["{}", '{"resourceList": []}', '{"resourceList": null}'])
def test_a_file_without_pools_is_accepted_and_said_to_have_none(file: File, empty: str) -> None:
    """Case A09 (a)."""
    found = file.load(empty)

    assert found.pools == ()
    assert "no pools" in str(found.warnings[0])


@pytest.mark.parametrize(
    ("text", "line", "column", "hint"),
    [
        ('"resourceList": []}', 1, 15, "must begin with {"),
        ('{"resourceList": [\n  {"resourceName": "x"},\n]}', 2, 24, "remove it"),
        ('{"resourceList": [], }', 1, 20, "remove it"),
        ('{\n  // pools\n  "resourceList": []}', 2, 3, "no comments"),
        ('\ufeff{"resourceList": []}', 1, 1, "byte order mark"),
        ('{"resourceList": []}\n{"resourceList": []}', 2, 1, None),
        ("{'resourceList': []}", 1, 2, "double quotes"),
        ('{"resourceList": NaN}', 1, 18, None),
        ("", 1, 1, None),
        ('{"resourceList": [', 1, 19, None),
    ],
)
def test_broken_json_is_placed_by_line_and_column(
    file: File, text: str, line: int, column: int, hint: str | None
) -> None:
    """Case D24."""
    (problem,) = file.refused(text)

    assert (problem.line, problem.column) == (line, column)
    assert hint is None or hint in (problem.hint or "")


def test_broken_json_is_shown_with_the_offending_line(file: File) -> None:
    """Case D24."""
    (problem,) = file.refused('{"resourceList": [\n  {"resourceName" "x"}]}')

    assert '{"resourceName" "x"}]}' in problem.message


@pytest.mark.parametrize(
    ("keys", "where", "message"),
    [
        ({"resourceName": 3}, "resourceList[0].resourceName", "expected a text in quotes, not 3"),
        ({"resourceName": ""}, "resourceList[0].resourceName", "is missing or empty"),
        ({"resourceName": "a.b"}, "resourceList[0].resourceName", "is no pool name"),
        ({"resourceName": "-a"}, "resourceList[0].resourceName", "no sign"),
        ({"resourceName": "n" * 64}, "resourceList[0].resourceName", "64 characters"),
        ({"resourcePrefix": "Intel"}, "resourceList[0].resourcePrefix", "lower case"),
        ({"deviceType": "gpu"}, "resourceList[0].deviceType", "'gpu' is no device type"),
        ({"selectors": 5}, "resourceList[0].selectors", "expected a list, not 5"),
        ({"selectors": None}, "resourceList[0].selectors", "is missing"),
        ({"selectors": [3]}, "resourceList[0].selectors[0]", "expected an object, not 3"),
        ({"selectors": {"vendors": "8086"}}, "resourceList[0].selectors.vendors", "expected a list"),
        ({"selectors": {"isRdma": "yes"}}, "resourceList[0].selectors.isRdma", "expected true or false"),
        ({"selectors": [{"vendors": [8086]}]}, "resourceList[0].selectors[0].vendors[0]", "text in quotes, not 8086"),
        ({"selectors": {"pfNames": ["a", "e#x"]}}, "resourceList[0].selectors.pfNames[1]", "'e#x'"),
        ({"selectors": {"rootDevices": ["3b:00.0#3-1"]}}, "resourceList[0].selectors.rootDevices[0]", "backwards"),
        ({"excludeTopology": 1}, "resourceList[0].excludeTopology", "expected true or false, not 1"),
        ({"additionalInfo": {"*": {"a": 1}}}, "resourceList[0].additionalInfo.*.a", "expected a text"),
    ],
)
def test_a_value_that_cannot_be_served_is_refused_with_path_and_value(
    file: File, keys: dict[str, Any], where: str, message: str
) -> None:
    """Case D07, and the rules of names."""
    (problem,) = file.refused(one(**keys))

    assert problem.where == where
    assert message in problem.message
    assert problem.line == 1
    assert problem.column > 1


@pytest.mark.parametrize(
    ("selectors", "hint"),
    [
        ({"sriovMode": True}, "keys here"),
        ({"vendor": ["8086"]}, "did you mean vendors?"),
        ({"vendors": ["0x8086"]}, "write 8086"),
        ({"vendors": ["8086 "]}, "write 8086"),
        ({"devices": ["0000:aa:00.2"]}, "pciAddresses"),
        ({"drivers": ["mlx5_ib"]}, "mlx5_core"),
        ({"pciAddresses": ["ens1f0"]}, "as 0000:3b:01.0"),
        ({"rootDevices": ["ens1f0#1"]}, "as 0000:3b:01.0"),
        ({"linkTypes": ["ethernet"]}, "ether or infiniband"),
        ({"linkTypes": ["ether", "infiniband"]}, "by position"),
    ],
)
def test_what_can_never_match_is_a_warning_and_a_fault_under_strict(
    file: File, selectors: dict[str, Any], hint: str
) -> None:
    """Cases D23, D27."""
    (warning,) = file.load(one(selectors=selectors)).warnings

    assert hint in (warning.hint or "")
    assert "warning: " in str(warning)
    assert file.refused(one(selectors=selectors), strict=True) == (warning,)


LISTS = [
    *("vendors", "devices", "drivers", "pciAddresses", "acpiIndexes", "pfNames"),
    *("rootDevices", "linkTypes", "ddpProfiles", "pKeys"),
]


@pytest.mark.parametrize("key", LISTS)
@pytest.mark.parametrize("empty", ["", None])
def test_an_empty_text_in_a_list_is_doubted_and_matches_nothing(key: str, empty: str | None, file: File) -> None:
    """Go reads null as an empty text. The list must not become one that selects everything."""
    found = file.load(one(selectors={key: [empty]}))

    (warning,) = found.warnings
    assert warning.where == f"resourceList[0].selectors.{key}[0]"
    assert warning.message == "'' is empty and matches nothing"
    (_, selector) = found.pools[0].selectors[0].selectors
    assert (selector.key, selector.wanted) == (key, "nothing")


def test_beside_a_null_the_other_values_of_a_list_count(file: File) -> None:
    found = file.load(one(selectors={"vendors": ["8086", None], "pfNames": [None, "ens1f0"]}))

    names = PfNames.of([IndexRanges.split("ens1f0")])
    assert found.pools[0].selectors == (DeviceSelector((NETWORK, Vendors.of(["8086"]), names)),)


@pytest.mark.parametrize(("key", "where"), [("numaNodes", "numaNodes[0]"), ("exclude", "exclude[0]")])
def test_a_null_in_a_list_that_go_does_not_know_is_refused(key: str, where: str, file: File) -> None:
    (problem,) = file.refused(one(selectors={key: [None]}))

    assert problem.where == f"resourceList[0].selectors.{where}"


def test_unknown_keys_are_warnings_at_every_level(file: File) -> None:
    text = (
        '{"resourceLists": [],\n "resourceList": [{"resourceName": "p", "selector": {},\n "selectors": {"a\\"b": 1}}]}'
    )

    warnings = file.load(text).warnings

    assert [(w.line, w.column) for w in warnings] == [(1, 2), (2, 41), (3, 16)]


def test_a_key_written_twice_is_a_warning_and_the_last_one_counts(file: File) -> None:
    found = file.load('{"resourceList": [{"resourceName": "a", "resourcename": "b", "selectors": {}}]}')

    assert [str(p.name) for p in found.pools] == ["intel.com/b"]
    assert "second time" in found.warnings[0].message


def test_two_pools_of_one_name_are_refused_with_the_line_of_the_first(file: File) -> None:
    """Case B07."""
    entry = '{"resourceName": "p", "selectors": {}}'

    (problem,) = file.refused(f'{{"resourceList": [\n{entry},\n{entry}]}}')

    assert (problem.line, problem.column) == (3, 18)
    assert "in line 2" in problem.message


def test_equal_names_under_two_prefixes_are_two_pools(file: File) -> None:
    entries: list[dict[str, Any]] = [
        {"resourceName": "p", "resourcePrefix": p, "selectors": {}} for p in ("a.com", "b.com")
    ]

    assert len(file.load({"resourceList": entries}).pools) == 2


DOMAIN = ".".join(["d" * 60] * 3)


@pytest.mark.parametrize(
    ("device_type", "prefix", "name"),
    [
        ("netDevice", f"{DOMAIN}.{'d' * 20}", "n" * 23),
        ("auxNetDevice", DOMAIN, "n" * 10),
        ("accelerator", f"{DOMAIN}.{'d' * 20}", "n" * 30),
    ],
)
def test_a_pool_whose_files_would_have_too_long_names_is_refused(
    device_type: str, prefix: str, name: str, file: File
) -> None:
    """Nothing of any pool would be announced while its files cannot be written."""
    keys = {"resourcePrefix": prefix, "deviceType": device_type}

    assert file.load(one(resourceName=name[1:], **keys)).pools
    (problem,) = file.refused(one(resourceName=name, **keys))

    assert problem.where == "resourceList[0].resourceName"
    assert f"{prefix}/{name} is too long: a file of 256 characters" in problem.message


def test_all_problems_are_told_at_once_in_the_order_of_the_file(file: File) -> None:
    text = """{"resourceList": [
  {"resourceName": "a.b", "selectors": {"vendors": ["0x8086"]}},
  {"resourceName": 1, "selectors": {"pfNames": ["e#"]}},
  {"resourceName": "p", "deviceType": "gpu", "selectors": {"vendors": 8086}},
  {"selectors": {}}
]}"""

    problems = file.refused(text)

    assert [(p.line, p.fatal) for p in problems] == [
        (2, True),
        (2, False),
        (3, True),
        (3, True),
        (4, True),
        (4, True),
        (5, True),
    ]


def test_a_missing_file_is_refused_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationInvalid, match="cannot be read: No such file"):
        ConfigFile(tmp_path / "absent.json", "intel.com").load()


def test_text_that_is_not_utf8_is_refused(file: File) -> None:
    file.path.write_bytes(b'{"a": "\xff"}')

    with pytest.raises(ConfigurationInvalid, match="not UTF-8"):
        ConfigFile(file.path, "intel.com").load()


def test_a_fifo_is_refused_and_nothing_waits_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")

    with pytest.raises(ConfigurationInvalid, match="cannot be read: this is no regular file"):
        ConfigFile(tmp_path / "link", "intel.com").load()


def test_a_device_node_is_refused_and_not_read_for_ever() -> None:
    with pytest.raises(ConfigurationInvalid, match="cannot be read: this is no regular file"):
        ConfigFile(Path("/dev/zero"), "intel.com").load()


def test_a_directory_is_refused_as_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationInvalid, match="cannot be read: Is a directory"):
        ConfigFile(tmp_path, "intel.com").load()


def test_nesting_without_end_is_refused_and_crashes_nothing(file: File) -> None:
    (problem,) = file.refused("[" * 100_000)

    assert "nested" in problem.message


def test_an_invalid_default_prefix_is_told_at_the_pool_that_uses_it(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(one()), encoding="utf-8")

    with pytest.raises(ConfigurationInvalid, match=r"resourceName: 'x\.kubernetes\.io/p'"):
        ConfigFile(path, "x.kubernetes.io").load()

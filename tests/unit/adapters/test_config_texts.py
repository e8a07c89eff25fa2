"""Texts that no editor writes: cut, half written, or full of what JSON can say and no pool can mean."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from adapters.config.config_file import ConfigFile
from application.ports.pool_configuration import ConfigurationInvalid, Problem
from domain.resource_name import ResourceName


def refused(directory: Path, text: str) -> tuple[Problem, ...]:
    path = directory / "config.json"
    path.write_bytes(text.encode())
    with pytest.raises(ConfigurationInvalid) as caught:
        ConfigFile(path, "intel.com").load()
    return caught.value.problems


def pool(**selectors: Any) -> str:
    return json.dumps({"resourceList": [{"resourceName": "p", "selectors": selectors}]})


@pytest.mark.parametrize(
    ("text", "line", "column"), [('{"resourceList": [\n', 2, 1), ('{"a": 1,\n\n', 3, 1), ('{\n  "a"\n', 3, 1)]
)
def test_a_text_that_ends_after_a_line_is_refused_at_its_end(text: str, line: int, column: int, tmp_path: Path) -> None:
    """Case B07: a file that is appended to line by line."""
    (problem,) = refused(tmp_path, text)

    assert (problem.line, problem.column) == (line, column)
    assert problem.message.endswith("the file ends here")


@pytest.mark.parametrize("before", ['"a": "\u2028",', '"a": "\x85",', '"a": 1,\r\r'])
def test_only_a_newline_begins_a_line_and_the_line_shown_is_the_one_told(before: str, tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, f'{{{before}\n "b" 1,\n "c": 2}}')

    assert problem.line == 2
    assert '"b" 1,' in problem.message


def test_of_a_very_long_line_the_place_is_shown(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, f'{{"a": "{"x" * 5000}", "b" 1, "c": "{"y" * 5000}"}}')

    assert '"b" 1' in problem.message
    assert len(problem.message) < 300


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (
            '{"resourceList":[5,{"resourceName":7}]}',
            [(1, 18, "resourceList[0]"), (1, 36, "resourceList[1].resourceName")],
        ),
        (
            '{"resourceList":[{"resourceName":"p",\n"selectors":[5,{"vendors":"x"}]}]}',
            [(2, 14, "resourceList[0].selectors[0]"), (2, 27, "resourceList[0].selectors[1].vendors")],
        ),
        (
            '{"resourceList":[{"resourceName":"p","selectors":{\n"exclude":[5,{"vendors":"x"}]}}]}',
            [
                (2, 12, "resourceList[0].selectors.exclude[0]"),
                (2, 25, "resourceList[0].selectors.exclude[1].vendors"),
            ],
        ),
    ],
)
def test_two_wrong_types_one_in_the_list_of_the_other_are_both_told(
    text: str, places: list[tuple[int, int, str]], tmp_path: Path
) -> None:
    assert [(p.line, p.column, p.where) for p in refused(tmp_path, text)] == places


@pytest.mark.parametrize("numbers", ["1" * 5000, f"0-{'1' * 5000}", "1" * 19])
def test_numbers_of_more_digits_than_a_vf_can_have_are_refused(numbers: str, tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, pool(pfNames=[f"e#{numbers}"]))

    assert "is no VF index or range" in problem.message


@pytest.mark.parametrize("key", ["healthCheckInterval", "unknown"])
def test_a_number_of_too_many_digits_is_refused_at_its_place(key: str, tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, f'{{"resourceList": [],\n "{key}": {"9" * 5000}}}')

    assert (problem.line, problem.column) == (2, len(key) + 6)
    assert "a number of too many digits" in problem.message


@pytest.mark.parametrize("pattern", ["(?a)(?u)x", "(?L)x"])
def test_a_pattern_of_flags_that_exclude_each_other_is_refused(pattern: str, tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, pool(pfNames=[f"re:{pattern}"]))

    assert "is no regular expression" in problem.message


def test_a_key_that_cannot_be_printed_is_told_so_that_it_can(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"resourceList": [], "\\ud800": 1}', encoding="utf-8")

    told = [str(warning) for warning in ConfigFile(path, "intel.com").load().warnings]

    assert "\\ud800: unknown key" in "".join(told).encode().decode()


def test_thousands_of_pools_are_read_in_a_time_that_grows_with_their_number(tmp_path: Path) -> None:
    """Counted, not timed: each name is asked for its variables a few times, however many others there are."""
    asked = Counter[str]()

    def variable(name: ResourceName) -> str:
        asked[str(name)] += 1
        return f"PCIDEVICE_{name.name}"

    path = tmp_path / "config.json"
    pools = [{"resourceName": f"p-{number}", "selectors": {}} for number in range(300)]
    path.write_text(json.dumps({"resourceList": pools}), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ResourceName, "variable", property(variable))
        assert all(pool.shell_alias for pool in ConfigFile(path, "intel.com").load().pools)

    assert max(asked.values()) < 20

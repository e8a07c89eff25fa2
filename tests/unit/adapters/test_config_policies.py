"""Keys about health, hold times and clean-up."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.config.config_file import ConfigFile
from application.ports.pool_configuration import Configuration, ConfigurationInvalid, Problem
from domain.health import Health, HealthPolicy
from domain.pool import PoolSpec


def load(path: Path, text: str) -> Configuration:
    path.write_text(text, encoding="utf-8")
    return ConfigFile(path, "intel.com").load()


def spec(path: Path, **keys: Any) -> PoolSpec:
    entry = {"resourceName": "p", "selectors": {"drivers": ["iavf"]}, **keys}
    return load(path, json.dumps({"resourceList": [entry]})).pools[0]


def refused(path: Path, text: str) -> tuple[Problem, ...]:
    with pytest.raises(ConfigurationInvalid) as caught:
        load(path, text)
    return caught.value.problems


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config.json"


def test_without_keys_nodes_count_the_link_does_not_and_nothing_is_cleaned_up(path: Path) -> None:
    found = spec(path)

    assert found.health == Health(HealthPolicy.DEVICE, 2.0, 5.0)
    assert (found.reset_on_allocate, found.restore_driver) == (False, False)
    assert load(path, '{"resourceList": []}').check_interval is None


@pytest.mark.parametrize(
    ("keys", "health"),
    [
        ({"health": "off"}, Health(HealthPolicy.OFF)),
        ({"health": "device"}, Health(HealthPolicy.DEVICE)),
        ({"health": "Link"}, Health(HealthPolicy.LINK)),
        ({"health": ""}, Health()),
        ({"health": None, "holdDown": None}, Health()),
        ({"health": "link", "holdDown": 0, "holdUp": 0}, Health(HealthPolicy.LINK, 0, 0)),
        ({"health": "link", "holdDown": 0.5, "HoldUp": 90}, Health(HealthPolicy.LINK, 0.5, 90)),
    ],
)
def test_a_policy_and_its_hold_times_are_read(keys: dict[str, Any], health: Health, path: Path) -> None:
    assert spec(path, **keys).health == health


def test_the_check_interval_is_the_files_own(path: Path) -> None:
    assert load(path, '{"healthCheckInterval": 0.5, "resourceList": []}').check_interval == 0.5
    assert load(path, '{"healthcheckinterval": 60, "resourceList": []}').check_interval == 60


def test_clean_up_is_read(path: Path) -> None:
    found = spec(path, resetOnAllocate=True, restoreDriver=True)

    assert (found.reset_on_allocate, found.restore_driver) == (True, True)


@pytest.mark.parametrize(
    ("value", "line", "column", "where", "message"),
    [
        ('"health": "linkk"', 2, 11, "health", "'linkk' is no health policy"),
        ('"health": true', 2, 11, "health", "expected a text in quotes, not true"),
        ('"holdDown": -1', 2, 13, "holdDown", "expected 0 or more, not -1"),
        ('"holdDown": "2s"', 2, 13, "holdDown", 'expected a number of seconds, not "2s"'),
        ('"holdUp": -0.5', 2, 11, "holdUp", "expected 0 or more, not -0.5"),
        ('"holdUp": [5]', 2, 11, "holdUp", "expected a number of seconds, not [5]"),
        ('"resetOnAllocate": "yes"', 2, 20, "resetOnAllocate", "expected true or false"),
        ('"restoreDriver": 1', 2, 18, "restoreDriver", "expected true or false, not 1"),
    ],
)
def test_a_bad_value_is_refused_with_line_and_column(
    value: str, line: int, column: int, where: str, message: str, path: Path
) -> None:
    (problem,) = refused(
        path, f'{{"resourceList": [{{"resourceName": "p", "selectors": {{"drivers": ["iavf"]}},\n{value}}}]}}'
    )

    assert (problem.line, problem.column, problem.where) == (line, column, f"resourceList[0].{where}")
    assert problem.message.startswith(message)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("0", "expected more than 0, not 0"),
        ("-20", "expected more than 0, not -20"),
        ('"20"', 'expected a number of seconds, not "20"'),
        ("true", "expected a number of seconds, not true"),
    ],
)
def test_a_bad_check_interval_is_refused_with_line_and_column(value: str, message: str, path: Path) -> None:
    (problem,) = refused(
        path,
        f'{{"resourceList": [{{"resourceName": "p", "selectors": {{}}}}],\n "healthCheckInterval": {value}}}',
    )

    assert (problem.line, problem.column, problem.where) == (2, 25, "healthCheckInterval")
    assert problem.message.startswith(message)


@pytest.mark.parametrize(
    "selectors",
    ['{"vendors": ["8086"]}', '{"drivers": ["iavf", "vfio-pci"]}', '{"drivers": [""]}', '[{}, {"drivers": []}]'],
)
def test_restoring_a_driver_needs_one_driver_to_restore(selectors: str, path: Path) -> None:
    problems = refused(
        path, f'{{"resourceList": [{{"resourceName": "p", "restoreDriver": true,\n"selectors": {selectors}}}]}}'
    )

    assert {problem.line for problem in problems} == {2}
    assert all("needs exactly one driver" in problem.message for problem in problems if problem.fatal)


@pytest.mark.parametrize("device_type", ["auxNetDevice", "AUXNETDEVICE", "accelerator"])
def test_restoring_drivers_below_subfunctions_is_refused(device_type: str, path: Path) -> None:
    text = json.dumps(
        {
            "resourceList": [
                {
                    "resourceName": "p",
                    "deviceType": device_type,
                    "restoreDriver": True,
                    "selectors": {"drivers": ["mlx5_core"]},
                }
            ]
        }
    )

    if device_type == "accelerator":
        assert load(path, text).pools[0].restore_driver
    else:
        assert "restoreDriver" in str(refused(path, text)[0])

"""Port PoolConfiguration: the fake and the file alike."""

import json
from pathlib import Path

import pytest

from adapters.config.config_file import ConfigFile
from application.ports.pool_configuration import ConfigurationInvalid, PoolConfiguration, Problem
from domain.selectors import Drivers
from tests.fakes.pool_configuration import FakePoolConfiguration
from tests.unit.domain.facts import pool


def source(kind: str, tmp_path: Path, *, valid: bool) -> PoolConfiguration:
    if kind == "memory":
        fault = Problem("resourceList[0].resourceName", 1, 2, "is missing")
        return FakePoolConfiguration(pool("p", Drivers.of(["iavf"])), problems=() if valid else (fault,))
    file = tmp_path / "config.json"
    entry = {"resourceName": "p" if valid else "", "selectors": {"drivers": ["iavf"]}}
    file.write_text(json.dumps({"resourceList": [entry]}), encoding="utf-8")
    return ConfigFile(file, "intel.com")


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_good_configuration_gives_its_pools(kind: str, tmp_path: Path) -> None:
    found = source(kind, tmp_path, valid=True).load()

    assert found.pools == (pool("p", Drivers.of(["iavf"])),)
    assert found.warnings == ()


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_bad_configuration_is_refused_with_its_problems(kind: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationInvalid, match="is missing") as caught:
        source(kind, tmp_path, valid=False).load()

    assert [p.where for p in caught.value.problems] == ["resourceList[0].resourceName"]

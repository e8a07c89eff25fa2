"""Pools that are in no configuration here, and may be another daemon's."""

from pathlib import Path
from typing import Any

import pytest

from domain.announcement import Holding
from domain.resource_name import ResourceName
from tests.hosts.named import h1
from tests.unit.application.stage import Stage

KERN: dict[str, Any] = {"resourceName": "kern", "selectors": {"drivers": ["iavf"]}}
OLD: dict[str, Any] = {"resourceName": "old", "selectors": {"drivers": ["iavf"]}}
HELD = "0000:3b:01.0"
FREE = "0000:3b:01.1"


def restarted(directory: Path, prefix: str) -> tuple[Stage, ResourceName]:
    """A daemon that starts with a pod that holds a device of a pool which it does not have."""
    resource = ResourceName(prefix, "old")
    stage = Stage(directory, h1(), {**OLD, "resourcePrefix": prefix})
    stage.device_use.held = frozenset({Holding(resource, HELD)})
    stage.device_use.given = frozenset({resource})
    stage.start(KERN)
    return stage, resource


@pytest.mark.parametrize("prefix", ["intel.com", "nvidia.com"])
def test_a_pool_is_drained_only_under_a_resource_prefix_that_is_in_use(prefix: str, tmp_path: Path) -> None:
    stage, resource = restarted(tmp_path, prefix)

    assert (resource in stage.publisher.lists) is (prefix == "intel.com")
    assert HELD not in stage.listed("kern")


def test_files_of_a_pool_that_may_be_another_programs_stay_while_it_drains(tmp_path: Path) -> None:
    """Those of its free devices: the Go plugin writes them as other programs in Go do."""
    stage, _ = restarted(tmp_path, "intel.com")
    file = stage.directory / "devinfo" / f"intel.com-old-{FREE}-device.json"
    file.write_text('{"type":"pci"}', encoding="utf-8")

    stage.reconcile()

    assert file.exists()

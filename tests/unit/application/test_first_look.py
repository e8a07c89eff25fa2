"""The first look after a start did not get what it needs; containers hold devices."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.config.config_file import ConfigFile
from adapters.devinfo.store import FileDeviceInfoStore
from domain.announcement import GONE, Holding
from domain.errors import FilesUnwritable, HostUnreadable
from domain.resource_name import ResourceName
from tests.contract.cdi_specification import resolvable
from tests.hosts.named import h1, h2
from tests.unit.application.stage import Stage

OLD = ResourceName("intel.com", "kern")
FIRST = "0000:3b:01.0"
KERN: dict[str, Any] = {"resourceName": "kern", "selectors": {"drivers": ["iavf"]}}
RENAMED: dict[str, Any] = {"resourceName": "other", "selectors": {"drivers": ["iavf"]}}
LATER_KERN: dict[str, Any] = {"resourceName": "kern", "selectors": {"drivers": ["vfio-pci"]}}


def test_files_could_not_be_written(tmp_path: Path) -> None:
    """Case B10: what a container holds drains, and is not offered under the pool's new name."""
    stage = Stage(tmp_path, h1(), KERN)
    stage.device_use.held = frozenset({Holding(OLD, FIRST)})
    stage.device_use.given = frozenset({OLD})
    (tmp_path / "devinfo").rename(tmp_path / "aside")
    (tmp_path / "devinfo").write_text("in the way", encoding="utf-8")
    with pytest.raises(FilesUnwritable):
        stage.start(RENAMED)

    (tmp_path / "devinfo").unlink()
    stage.reconcile()

    assert FIRST not in stage.listed("other")
    assert stage.listed("other")
    assert {entry.id: entry.fault for entry in stage.publisher.lists[OLD]} == {FIRST: GONE}


def test_the_kubelet_could_not_be_asked(tmp_path: Path) -> None:
    """Case B10: the device stays with the pool that it was given out by, as soon as that is known."""
    stage = Stage(tmp_path, h1(), KERN)
    stage.device_use.held = None
    stage.start(RENAMED, LATER_KERN)

    stage.device_use.held = frozenset({Holding(OLD, FIRST)})
    stage.reconcile()

    assert FIRST not in stage.listed("other")
    assert stage.listed("kern") == {FIRST: GONE}


def test_cdi_files_could_not_be_written_and_the_device_is_handed_out_anew(tmp_path: Path) -> None:
    """What the directory has of other devices stays there."""
    dpdk: dict[str, Any] = {"resourceName": "dpdk", "selectors": {"drivers": ["vfio-pci"]}}
    stage = Stage(tmp_path, h2(), dpdk, cdi=True)
    before = resolvable(stage.cdi_directory)
    stage.device_use.held = frozenset({Holding(stage.name("dpdk"), FIRST)})
    (tmp_path / "devinfo").rename(tmp_path / "aside")
    (tmp_path / "devinfo").write_text("in the way", encoding="utf-8")
    with pytest.raises(FilesUnwritable):
        stage.start(dpdk)
    (tmp_path / "devinfo").unlink()

    granted = stage.allocate("dpdk", FIRST)

    assert granted.cdi_devices == (f"intel.com/net-pci={FIRST}",)
    assert resolvable(stage.cdi_directory) == before


def test_the_look_ended_after_the_kubelet_was_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case B10: what it has told counts until it is in the lists."""
    stage = Stage(tmp_path, h1(), KERN)
    stage.device_use.held = frozenset({Holding(OLD, FIRST)})
    write = FileDeviceInfoStore.write

    def short_of_files(*_: object) -> int:
        raise HostUnreadable("cdi", "Too many open files", "more are needed")

    monkeypatch.setattr(FileDeviceInfoStore, "write", short_of_files)
    narrow = {**KERN, "selectors": {"pfNames": ["ens1f0#1-3"]}}
    with pytest.raises(HostUnreadable):
        stage.start(narrow)

    monkeypatch.setattr(FileDeviceInfoStore, "write", write)
    stage.reconcile()

    assert stage.listed("kern")[FIRST] == GONE


def test_a_pool_comes_later_from_another_daemon(tmp_path: Path) -> None:
    """Case A08: its pods hold a device that the selectors here do not take."""
    stage = Stage(tmp_path, h1(), RENAMED)
    narrow = {**KERN, "selectors": {"pfNames": ["ens1f0#1-3"]}}
    stage.device_use.held = frozenset({Holding(OLD, FIRST)})
    config = tmp_path / "edited.json"
    config.write_text(json.dumps({"resourceList": [narrow]}), encoding="utf-8")

    stage.table.wanted = ConfigFile(config, "intel.com").load().pools
    stage.reconcile()

    assert {entry.id: entry.fault for entry in stage.publisher.lists[OLD]}[FIRST] == GONE

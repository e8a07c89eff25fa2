"""Which device-info files are nobody's any more."""

import json
from pathlib import Path
from typing import Any

from tests.hosts.named import h1
from tests.unit.application.stage import Stage

KERN: dict[str, Any] = {"resourceName": "kern", "selectors": {"drivers": ["iavf"]}}
OTHER: dict[str, Any] = {"resourceName": "other", "selectors": {"drivers": ["iavf"]}}
VF = "0000:3b:01.0"
RANGES = (("a", "0-1"), ("b", "2-3"))


def file_of(stage: Stage, pool: str, id_: str = VF) -> Path:
    return stage.directory / "devinfo" / f"intel.com-{pool}-{id_}-device.json"


def test_files_of_a_pool_of_an_earlier_process_go(tmp_path: Path) -> None:
    stage = Stage(tmp_path, h1(), KERN)
    assert file_of(stage, "kern").exists()

    stage.start(OTHER)

    assert not file_of(stage, "kern").exists()
    assert file_of(stage, "other").exists()


def test_a_file_of_another_program_under_the_same_prefix_stays(tmp_path: Path) -> None:
    """Facts/consumers.md 1.4: drivers for dynamic resource allocation write into the same directory."""
    stage = Stage(tmp_path, h1(), KERN)
    claim = file_of(stage, "dra")
    claim.write_text(json.dumps({"type": "pci", "pci": {"pci-address": VF}}, separators=(",", ":")), encoding="utf-8")

    stage.reconcile()
    stage.start(OTHER)

    assert claim.exists()


def test_whoever_wrote_a_file_of_a_pool_that_is_served_it_goes_with_its_device(tmp_path: Path) -> None:
    """The Go plugin leaves such files when the node loses power."""
    stage = Stage(tmp_path, h1(), KERN)
    stale = file_of(stage, "kern", "0000:3b:01.7")
    stale.write_text("{}", encoding="utf-8")

    stage.reconcile()

    assert not stale.exists()


def test_files_of_a_pool_that_another_process_serves_are_that_ones(tmp_path: Path) -> None:
    """Case A08: two daemons under one resource prefix; a pool may move from one to the other."""
    first, second = ({"resourceName": n, "selectors": {"pfNames": [f"ens1f0#{r}"]}} for n, r in RANGES)
    stage = Stage(tmp_path, h1(), first, second)
    file = file_of(stage, "b", "0000:3b:01.2")
    written = file.read_bytes()
    resource = stage.name("b")
    stage.table.wanted = stage.table.wanted[:1]
    stage.reconcile()
    assert not file.exists()

    file.write_bytes(written)
    stage.publisher.others = {resource}
    stage.reconcile()
    assert file.exists()

    stage.publisher.others = set()
    stage.reconcile()
    assert not file.exists()

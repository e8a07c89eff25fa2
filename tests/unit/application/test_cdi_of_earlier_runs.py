"""CDI files that an earlier process left, this plugin's or the Go plugin's: containers may be restarted by them."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from domain.announcement import Holding
from domain.resource_name import ResourceName
from tests.contract.cdi_specification import resolvable
from tests.hosts.named import h2
from tests.unit.application.stage import Stage, nodes

IDS = [f"0000:3b:01.{i}" for i in range(4)]
A: dict[str, Any] = {"resourceName": "a", "selectors": {"pfNames": ["ens1f0#0-1"]}}
B: dict[str, Any] = {"resourceName": "b", "selectors": {"pfNames": ["ens1f0#2-3"]}}
GONE, GONE_TOO = "0000:3b:01.6", "0000:3b:01.7"


def leave(directory: Path, name: str, *ids: str, kind: str = "intel.com/net-pci") -> Path:
    """A file as the Go plugin writes it, for devices that each have a uio node."""
    devices = [
        {
            "containerEdits": {
                "deviceNodes": [{"hostPath": f"/dev/uio{id_[-1]}", "path": f"/dev/uio{id_[-1]}", "permissions": "rw"}]
            },
            "name": id_,
        }
        for id_ in ids
    ]
    file = directory / name
    directory.mkdir(exist_ok=True)
    document = {"cdiVersion": "0.5.0", "containerEdits": {}, "devices": devices, "kind": kind}
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    return file


def described(stage: Stage) -> dict[str, str]:
    """Id to the first node of each device that a runtime finds."""
    return {name.partition("=")[2]: edits[0]["hostPath"] for name, edits in resolvable(stage.cdi_directory).items()}


def stage_with(tmp_path: Path, held: frozenset[str] | None, *pools: dict[str, Any]) -> Stage:
    """A start while pods of an earlier run hold these devices of pool a; None: nobody can tell."""
    stage = Stage(tmp_path, h2(), cdi=True)
    name = ResourceName("intel.com", "a")
    stage.device_use.held = None if held is None else frozenset(Holding(name, id_) for id_ in held)
    stage.start(*pools)
    return stage


def test_what_containers_hold_is_kept_and_what_is_free_goes(tmp_path: Path) -> None:
    leave(tmp_path / "cdi", "sriov-dp-intel.com-net-pci-a.yaml", IDS[0], GONE, GONE_TOO)

    stage = stage_with(tmp_path, frozenset({GONE}), A)

    assert described(stage) == {IDS[0]: "/dev/vfio/vfio", IDS[1]: "/dev/vfio/vfio", GONE: "/dev/uio6"}


def test_while_nobody_can_tell_everything_is_kept(tmp_path: Path) -> None:
    leave(tmp_path / "cdi", "sriov-dp-intel.com-net-pci-a.yaml", GONE)
    leave(tmp_path / "cdi", "sriov-dp-intel.com-net-pci-removed.yaml", GONE_TOO)

    stage = stage_with(tmp_path, None, A)

    assert set(described(stage)) == {IDS[0], IDS[1], GONE, GONE_TOO}


def test_the_file_of_a_removed_pool_goes_when_its_last_device_is_given_back(tmp_path: Path) -> None:
    """Case A10."""
    left = leave(tmp_path / "cdi", "sriov-dp-intel.com-net-pci-removed.yaml", GONE, GONE_TOO)
    stage = stage_with(tmp_path, frozenset({GONE}), A)
    assert set(described(stage)) == {IDS[0], IDS[1], GONE}

    stage.device_use.held = frozenset()
    stage.reconcile()

    assert not left.exists()
    assert set(described(stage)) == {IDS[0], IDS[1]}


def test_a_pool_of_another_kind_is_taken_over_likewise(tmp_path: Path) -> None:
    left = leave(tmp_path / "cdi", "sriov-dp-intel.com-acc-pci-fec.yaml", GONE, kind="intel.com/acc-pci")

    stage = stage_with(tmp_path, frozenset({GONE}), A)

    assert left.exists()
    assert "intel.com/acc-pci=" + GONE in resolvable(stage.cdi_directory)


def test_a_device_of_a_renamed_pool_is_described_once_by_its_facts_of_now(tmp_path: Path) -> None:
    """Runtimes drop a device that two files describe."""
    leave(tmp_path / "cdi", "sriov-dp-intel.com-net-pci-old.yaml", *IDS[:2])

    stage = stage_with(tmp_path, frozenset(IDS[:1]), A)

    assert described(stage) == {IDS[0]: "/dev/vfio/vfio", IDS[1]: "/dev/vfio/vfio"}


@pytest.mark.parametrize("held", [frozenset({GONE}), None])
def test_a_device_that_two_earlier_files_describe_is_left_in_one(held: frozenset[str] | None, tmp_path: Path) -> None:
    """Older Go plugins put a digest into the name and leave the file of each change behind."""
    for digest in ("0a1b", "2c3d"):
        leave(tmp_path / "cdi", f"sriov-dp-intel.com-net-pci_{digest}.yaml", GONE)
        leave(tmp_path / "cdi", f"sriov-dp-intel.com-net-pci-{digest}.yaml", GONE)

    assert GONE in described(stage_with(tmp_path, held, A))


def test_a_held_device_that_another_pool_now_selects_keeps_its_description(tmp_path: Path) -> None:
    """Cases B02, F01: it stays in the old pool's list and file, and enters neither of the new one's."""
    stage = Stage(tmp_path, h2(), A, B, cdi=True)
    stage.hold("a", IDS[1])

    stage.start({**A, "selectors": {"pfNames": ["ens1f0#0"]}}, {**B, "selectors": {"pfNames": ["ens1f0#1-3"]}})

    assert set(described(stage)) == set(IDS)
    kept = json.loads((stage.cdi_directory / "sriov-dp-intel.com-net-pci-a.yaml").read_text(encoding="utf-8"))
    assert [device["name"] for device in kept["devices"]] == [IDS[0], IDS[1]]


def test_a_held_device_that_vanished_keeps_its_description(tmp_path: Path) -> None:
    """Case B03: the container can be restarted until the pod goes."""
    stage = Stage(tmp_path, h2(), A, cdi=True)
    stage.hold("a", IDS[1])
    stage.laid.remove_function(IDS[1])

    stage.reconcile()
    assert set(described(stage)) == set(IDS[:2])

    stage.device_use.held = frozenset()
    stage.reconcile()
    assert set(described(stage)) == set(IDS[:1])


def test_files_stay_as_they_are_without_the_flag(tmp_path: Path) -> None:
    left = leave(tmp_path / "cdi", "sriov-dp-intel.com-net-pci-a.yaml", IDS[0])
    before = left.read_text(encoding="utf-8")

    stage = Stage(tmp_path, h2(), A)

    assert nodes(stage.allocate("a", IDS[0])) == ["/dev/vfio/vfio", "/dev/vfio/101"]
    assert stage.allocate("a", IDS[0]).cdi_devices == ()
    assert left.read_text(encoding="utf-8") == before


def test_a_file_of_a_pool_that_another_process_serves_is_that_ones(tmp_path: Path) -> None:
    """Case A08: two daemons under one resource prefix."""
    stage = stage_with(tmp_path, frozenset(), A)
    theirs = leave(tmp_path / "cdi", "sriov-dp-intel.com-net-pci-b.yaml", *IDS[2:])
    before = theirs.read_bytes()
    stage.publisher.others = {ResourceName("intel.com", "b")}

    stage.reconcile()
    assert theirs.read_bytes() == before

    stage.publisher.others = set()
    stage.reconcile()
    assert not theirs.exists()

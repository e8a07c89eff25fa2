"""CDI files as files: when they are written, how, and what earlier writers left."""

import json
import os
import stat
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from adapters.cdi.store import FileCdiStore
from domain.cdi import CdiFile
from domain.errors import FilesUnwritable
from domain.exposure import DeviceNode
from tests.fakes.journal import FakeJournal

NAME = "sriov-dp-intel.com-net-pci-dpdk.yaml"
UIO = (DeviceNode("/dev/uio0", "/dev/uio0"),)
FILE = CdiFile(NAME, "intel.com/net-pci", {"0000:3b:01.0": UIO})
GO = """\
cdiVersion: 0.5.0
containerEdits: {}
devices:
- containerEdits:
    deviceNodes:
    - hostPath: /dev/uio0
      path: /dev/uio0
      permissions: rw
  name: "0000:3b:01.0"
kind: intel.com/net-pci
"""
GO_WITHOUT_NODES = GO.replace("devices:\n", 'devices:\n- containerEdits: {}\n  name: "0000:3b:01.7"\n')


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "cdi"


def store(directory: Path) -> FileCdiStore:
    return FileCdiStore(directory, FakeJournal())


def test_files_and_directory_can_be_read_by_all(directory: Path) -> None:
    before = os.umask(0o077)
    try:
        store(directory).write([FILE])
    finally:
        os.umask(before)

    modes = [stat.S_IMODE(path.stat().st_mode) for path in (directory, directory / NAME)]
    assert modes == [0o755, 0o644]


def test_what_is_right_already_keeps_its_inode(directory: Path) -> None:
    """By the process that wrote it and by its successor."""
    first = store(directory)
    first.write([FILE])
    before = (directory / NAME).stat()

    first.write([FILE])
    store(directory).write([FILE])

    assert (directory / NAME).stat().st_ino == before.st_ino


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_text("{}", encoding="utf-8")])
def test_a_file_that_somebody_touched_is_written_anew(harm: object, directory: Path) -> None:
    mine = store(directory)
    mine.write([FILE])
    assert callable(harm)
    harm(directory / NAME)

    mine.write([FILE])

    assert list(mine.read({"intel.com"})) == [FILE]


def test_a_reader_never_sees_a_second_file_with_the_same_devices(directory: Path, mocker: MockerFixture) -> None:
    """Runtimes read every .json and .yaml, hidden ones too, and drop a device that two files describe.

    pkg/cdi/spec-dirs.go of the CDI library looks at the ending alone.
    """
    mine = store(directory)
    mine.write([FILE])
    seen: list[str] = []
    real = os.rename

    def look_then_rename(source: str, target: str) -> None:
        seen.extend(p.name for p in directory.iterdir() if p.suffix in {".json", ".yaml"})
        real(source, target)

    mocker.patch("adapters.files.atomic.os.rename", look_then_rename)
    mine.write([CdiFile(NAME, FILE.kind, {**FILE.devices, "0000:3b:01.1": UIO})])

    assert seen == [NAME]


def test_what_a_killed_process_left_half_done_is_removed(directory: Path, mocker: MockerFixture) -> None:
    """A runtime would read it for ever, beside the whole one."""
    mocker.patch("adapters.files.atomic._PROCESS", "dead")
    mocker.patch("adapters.files.atomic.os.rename", side_effect=KeyboardInterrupt)  # as good as a kill: no clean-up
    with pytest.raises(KeyboardInterrupt):
        store(directory).write([FILE])
    mocker.stopall()
    for left in directory.iterdir():
        os.utime(left, (0, 0))

    store(directory).write([FILE])

    assert [p.name for p in directory.iterdir()] == [NAME]


@pytest.mark.parametrize("text", [GO, GO_WITHOUT_NODES])
def test_files_of_the_go_plugin_are_understood(text: str, directory: Path) -> None:
    """It writes YAML, and devices without edits too."""
    directory.mkdir()
    (directory / NAME).write_text(text, encoding="utf-8")

    (found,) = store(directory).read({"intel.com"})

    assert (found.name, found.kind, found.devices["0000:3b:01.0"]) == (NAME, FILE.kind, UIO)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00",
        "{",
        "[]",
        "3",
        "kind: x",
        "- a\n- b",
        "devices: 3\nkind: a/b",
        "a: &a [*a]",
        "{a: b: c}",
        "\t- x",
        '"',
    ],
)
def test_a_file_that_cannot_be_understood_is_left_alone_and_said(text: str, directory: Path) -> None:
    directory.mkdir()
    (directory / NAME).write_text(text, encoding="utf-8")
    (directory / "sriov-dp-intel.com-net-pci-fine.yaml").write_text(GO, encoding="utf-8")
    journal = FakeJournal()

    found = FileCdiStore(directory, journal).read({"intel.com"})

    assert [file.name for file in found] == ["sriov-dp-intel.com-net-pci-fine.yaml"]
    assert (directory / NAME).read_text(encoding="utf-8") == text
    (told,) = journal.told("CDI file not understood")
    assert told["file"] == str(directory / NAME)


@pytest.mark.parametrize("there", ["directory", "link"])
def test_what_is_no_file_at_the_place_of_one_is_not_followed(there: str, directory: Path, tmp_path: Path) -> None:
    directory.mkdir()
    victim = tmp_path / "victim"
    victim.write_text(json.dumps({"mine": True}), encoding="utf-8")
    if there == "link":
        (directory / NAME).symlink_to(victim)
    else:
        (directory / NAME).mkdir()

    mine = store(directory)
    assert list(mine.read({"intel.com"})) == []
    if there == "link":
        mine.write([FILE])
        assert not (directory / NAME).is_symlink()
    else:
        with pytest.raises(FilesUnwritable, match=NAME):
            mine.write([FILE])
    assert victim.read_text(encoding="utf-8") == '{"mine": true}'


def test_files_of_other_writers_are_never_touched(directory: Path) -> None:
    directory.mkdir()
    others = {"nvidia.yaml", "sriov-dp-other.org-net-pci-x.yaml", "intel.com-gpu.yaml", "sriov-dp-intel.com.json"}
    for name in others:
        (directory / name).write_text(GO, encoding="utf-8")

    mine = store(directory)
    assert list(mine.read({"intel.com"})) == []
    mine.write([FILE, CdiFile("sriov-dp-intel.com-net-pci-gone.yaml", FILE.kind)])

    assert {p.name for p in directory.iterdir()} == {*others, NAME}


def test_with_no_device_to_describe_no_directory_is_needed(directory: Path) -> None:
    store(directory).write([CdiFile(NAME, FILE.kind)])

    assert not directory.exists()

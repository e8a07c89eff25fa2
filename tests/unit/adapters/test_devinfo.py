import json
import os
import stat
import time
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from adapters.devinfo.store import FileDeviceInfoStore
from domain.device_info import DeviceInfo
from domain.errors import FilesUnwritable
from domain.resource_name import ResourceName


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "k8s.cni.cncf.io" / "devinfo" / "dp"


RECORD = DeviceInfo(ResourceName("intel.com", "p"), "0000:3b:01.0", {"type": "pci", "version": "1.1.0"})


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_and_directories_have_the_modes_readers_need(directory: Path) -> None:
    """Case I04."""
    before = os.umask(0o077)
    try:
        FileDeviceInfoStore(directory).write([RECORD])
    finally:
        os.umask(before)

    assert [mode(d) for d in (directory, directory.parent, directory.parent.parent)] == [0o755] * 3
    assert mode(directory / RECORD.file_name) == 0o644
    assert json.loads((directory / RECORD.file_name).read_text(encoding="utf-8")) == RECORD.content


def test_directories_of_mode_0000_are_mended(directory: Path) -> None:
    """Case I04; that it works without capabilities is tried in tests/daemon and in the guest."""
    directory.mkdir(parents=True)
    for spoiled in (directory, directory.parent, directory.parent.parent):
        spoiled.chmod(0)

    FileDeviceInfoStore(directory).write([RECORD])

    assert [mode(d) for d in (directory, directory.parent, directory.parent.parent)] == [0o755] * 3


def test_a_file_of_an_earlier_run_is_replaced_whole(directory: Path) -> None:
    """Case E10: other content, mode 0444."""
    directory.mkdir(parents=True)
    stale = directory / RECORD.file_name
    stale.write_text("{}", encoding="utf-8")
    stale.chmod(0o444)

    FileDeviceInfoStore(directory).write([RECORD])

    assert json.loads(stale.read_text(encoding="utf-8")) == RECORD.content
    assert mode(stale) == 0o644


def test_what_is_right_already_keeps_its_inode(directory: Path) -> None:
    FileDeviceInfoStore(directory).write([RECORD])
    before = (directory / RECORD.file_name).stat()

    FileDeviceInfoStore(directory).write([RECORD])

    assert (directory / RECORD.file_name).stat().st_ino == before.st_ino


def test_a_link_in_place_of_a_file_is_replaced_and_not_followed(directory: Path, tmp_path: Path) -> None:
    directory.mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("mine", encoding="utf-8")
    (directory / RECORD.file_name).symlink_to(victim)

    FileDeviceInfoStore(directory).write([RECORD])

    assert victim.read_text(encoding="utf-8") == "mine"
    assert not (directory / RECORD.file_name).is_symlink()


def test_no_temporary_file_is_left_or_listed(directory: Path) -> None:
    store = FileDeviceInfoStore(directory)
    directory.mkdir(parents=True)
    abandoned, recent = (directory / f".{mark}-{RECORD.file_name}.tmp" for mark in ("dead", "busy"))
    for left in (abandoned, recent):
        left.write_text("half", encoding="utf-8")
    os.utime(abandoned, (0, 0))

    store.write([RECORD])

    assert sorted(p.name for p in directory.iterdir()) == [recent.name, RECORD.file_name]
    assert list(store.names()) == [RECORD.file_name]


def test_a_directory_removed_under_way_is_made_again(directory: Path) -> None:
    store = FileDeviceInfoStore(directory)
    store.write([RECORD])
    (directory / RECORD.file_name).unlink()
    directory.rmdir()

    assert store.write([RECORD]) == 1


def test_a_full_disk_is_told_with_path_and_remedy(directory: Path, mocker: MockerFixture) -> None:
    store = FileDeviceInfoStore(directory)
    mocker.patch("adapters.files.atomic.os.write", side_effect=OSError(28, "No space left on device"))

    with pytest.raises(FilesUnwritable, match=r"No space left.*free space") as caught:
        store.write([RECORD])

    assert str(directory) in str(caught.value)
    assert list(store.names()) == []


@pytest.mark.parametrize("below", ["", "dp"])
def test_a_file_where_a_directory_is_needed_is_told_with_the_command_that_helps(below: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")

    with pytest.raises(FilesUnwritable, match=f"^{file}: this is a file.*: try mv {file} {file}.old$"):
        FileDeviceInfoStore(file / below).write([RECORD])


def test_a_record_that_cannot_be_removed_is_told_with_its_path(directory: Path) -> None:
    (directory / "intel.com-p-x-device.json").mkdir(parents=True)

    with pytest.raises(FilesUnwritable, match=r"intel.com-p-x-device.json: .*must be writable"):
        FileDeviceInfoStore(directory).remove(["intel.com-p-x-device.json"])


def test_a_file_that_somebody_wrote_into_is_replaced_and_one_that_is_gone_is_written(directory: Path) -> None:
    """A file that is known is not read again at each look, but seen to be the same."""
    store = FileDeviceInfoStore(directory)
    assert store.write([RECORD]) == 1
    assert store.write([RECORD]) == 0
    path = directory / RECORD.file_name
    right = path.read_bytes()

    time.sleep(0.02)  # the kernel's clock for files ticks every few milliseconds
    path.write_bytes(b"x" * len(right))
    assert store.write([RECORD]) == 1
    assert path.read_bytes() == right
    path.unlink()
    assert store.write([RECORD]) == 1
    assert path.read_bytes() == right


def test_what_an_earlier_run_wrote_is_known_once_it_was_read(directory: Path, mocker: MockerFixture) -> None:
    FileDeviceInfoStore(directory).write([RECORD])
    store = FileDeviceInfoStore(directory)
    assert store.write([RECORD]) == 0

    read = mocker.patch("adapters.devinfo.store.read_file")
    assert store.write([RECORD]) == 0
    read.assert_not_called()

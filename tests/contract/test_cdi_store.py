"""Port CdiStore: the fake and the files alike."""

from pathlib import Path

import pytest

from adapters.cdi.store import FileCdiStore
from application.ports.cdi_store import CdiStore
from domain.cdi import CdiFile
from domain.errors import FilesUnwritable
from domain.exposure import DeviceNode
from tests.contract.cdi_specification import resolvable
from tests.fakes.cdi_store import FakeCdiStore
from tests.fakes.journal import FakeJournal


@pytest.fixture(params=["memory", "files"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> CdiStore:
    return FakeCdiStore() if request.param == "memory" else FileCdiStore(tmp_path / "cdi", FakeJournal())


def nodes(group: int) -> tuple[DeviceNode, ...]:
    return tuple(DeviceNode(path, path) for path in ("/dev/vfio/vfio", f"/dev/vfio/{group}"))


def file(pool: str = "p", prefix: str = "intel.com", **groups: int) -> CdiFile:
    devices = {f"0000:3b:01.{name[1:]}": nodes(group) for name, group in groups.items()}
    return CdiFile(f"sriov-dp-{prefix}-net-pci-{pool}.yaml", f"{prefix}/net-pci", devices)


def test_files_are_read_back_as_they_were_written(store: CdiStore) -> None:
    noiommu = CdiFile(
        "sriov-dp-intel.com-net-pci-g.yaml",
        "intel.com/net-pci",
        {"0000:00:06.0": (DeviceNode("/dev/vfio/noiommu-0", "/dev/vfio/0"),)},
    )
    wanted = [file("a", _0=101, _1=102), file("b", _2=103), noiommu]

    store.write(wanted)

    assert sorted(store.read({"intel.com"}), key=lambda f: f.name) == wanted


def test_a_store_that_was_never_written_is_empty(store: CdiStore) -> None:
    assert list(store.read({"intel.com"})) == []


def test_only_files_below_the_prefixes_that_are_asked_for_are_told(store: CdiStore) -> None:
    mine, other = file(_0=101), file(prefix="nvidia.com", _1=102)
    store.write([mine, other])

    assert list(store.read({"intel.com"})) == [mine]
    assert len(store.read({"nvidia.com", "intel.com", "none.org"})) == 2
    assert list(store.read(())) == []


def test_a_prefix_that_goes_on_with_a_dash_is_another_one(store: CdiStore) -> None:
    """Two plugins on one node: each would take the other's files for its own leavings, and drop their devices."""
    mine, theirs = file(prefix="intel.com", _0=101), file(prefix="intel.com-test.org", _1=102)
    store.write([mine, theirs])

    assert list(store.read({"intel.com"})) == [mine]


def test_a_file_is_replaced_as_a_whole(store: CdiStore) -> None:
    store.write([file(_0=101, _1=102)])
    store.write([file(_1=107)])

    assert list(store.read({"intel.com"})) == [file(_1=107)]


def test_files_that_are_not_named_stay(store: CdiStore) -> None:
    store.write([file("a", _0=101), file("b", _1=102)])
    store.write([file("a", _0=103)])

    assert len(store.read({"intel.com"})) == 2


def test_a_file_without_devices_is_removed_and_can_come_back(store: CdiStore) -> None:
    store.write([file(_0=101)])
    store.write([file(), file("never-there")])
    assert list(store.read({"intel.com"})) == []

    store.write([file(_0=101)])
    assert list(store.read({"intel.com"})) == [file(_0=101)]


def test_what_cannot_be_written_is_told_with_its_path(tmp_path: Path) -> None:
    fake = FakeCdiStore()
    fake.full = True
    (tmp_path / "cdi").write_text("in the way", encoding="utf-8")

    for store in (fake, FileCdiStore(tmp_path / "cdi", FakeJournal())):
        with pytest.raises(FilesUnwritable, match="cdi"):
            store.write([file(_0=101)])


def test_what_is_written_is_what_a_runtime_finds(tmp_path: Path) -> None:
    """Case F04: one file a pool, every device resolvable."""
    FileCdiStore(tmp_path, FakeJournal()).write([file("a", _0=101, _1=102), file("b", _2=103)])

    assert len(list(tmp_path.iterdir())) == 2
    found = resolvable(tmp_path)
    assert set(found) == {f"intel.com/net-pci=0000:3b:01.{i}" for i in range(3)}
    assert [node["path"] for node in found["intel.com/net-pci=0000:3b:01.2"]] == ["/dev/vfio/vfio", "/dev/vfio/103"]

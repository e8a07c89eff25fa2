"""Port DeviceInfoStore: the fake and the files alike."""

from pathlib import Path

import pytest

from adapters.devinfo.store import FileDeviceInfoStore
from application.ports.device_info_store import DeviceInfoStore
from domain.device_info import DeviceInfo
from domain.resource_name import ResourceName
from tests.fakes.device_info_store import FakeDeviceInfoStore


@pytest.fixture(params=["memory", "files"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> DeviceInfoStore:
    return FakeDeviceInfoStore() if request.param == "memory" else FileDeviceInfoStore(tmp_path / "devinfo" / "dp")


def record(index: int, kind: str = "pci") -> DeviceInfo:
    return DeviceInfo(ResourceName("intel.com", "p"), f"0000:3b:01.{index}", {"type": kind})


def test_records_are_there_under_their_names(store: DeviceInfoStore) -> None:
    assert store.write([record(0), record(1)]) == 2
    assert sorted(store.names()) == [f"intel.com-p-0000:3b:01.{i}-device.json" for i in range(2)]


def test_only_what_differs_is_written(store: DeviceInfoStore) -> None:
    store.write([record(0), record(1)])

    assert store.write([record(0), record(1)]) == 0
    assert store.write([record(0), record(1, "vdpa")]) == 1


def test_removed_records_are_gone_and_others_stay(store: DeviceInfoStore) -> None:
    store.write([record(0), record(1)])

    store.remove([record(0).file_name, "intel.com-p-never-there-device.json"])

    assert list(store.names()) == [record(1).file_name]


def test_a_store_that_was_never_written_is_empty(store: DeviceInfoStore) -> None:
    assert list(store.names()) == []

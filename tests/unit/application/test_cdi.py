"""CDI: what containers get by name, and when the files say what."""

import asyncio
from pathlib import Path

import pytest

from application.cdi import CdiPublication
from application.holdings import Holdings
from domain.announcement import offers
from domain.assignment import assign
from domain.errors import FilesUnwritable
from tests.contract.cdi_specification import resolvable
from tests.fakes.cdi_store import FakeCdiStore
from tests.fakes.device_use import FakeDeviceUse
from tests.hosts.host import SimHost
from tests.hosts.named import h1, h2
from tests.hosts.rdma import RdmaDevice
from tests.unit.application.stage import Stage
from tests.unit.domain.facts import h1 as facts_h1
from tests.unit.domain.facts import pool

IDS = [f"0000:3b:01.{i}" for i in range(4)]
A, B = ({"resourceName": n, "selectors": {"pfNames": [f"ens1f0#{r}"]}} for n, r in (("a", "0-1"), ("b", "2-3")))


def rdma_host() -> SimHost:
    host = SimHost()
    host.vf(host.pf("0000:3b:00.0", netdevs=["ens1f0"]), 0, bdf=IDS[0], children=[RdmaDevice("rocep0", uverbs=20)])
    return host


RDMA = {"resourceName": "rdma", "selectors": {"isRdma": True}}


def paths(stage: Stage, *names: str) -> list[str]:
    """The nodes that a runtime injects for these names."""
    found = resolvable(stage.cdi_directory)
    return [node["hostPath"] for name in names for node in found[name]]


def test_a_container_with_devices_of_two_pools_gets_all_nodes_by_names_that_differ(tmp_path: Path) -> None:
    """Case F01: names alone, so that nothing is injected twice."""
    stage = Stage(tmp_path, h2(), A, B, cdi=True)

    granted = [stage.allocate("a", IDS[0], IDS[1]), stage.allocate("b", IDS[3])]

    assert [g.nodes for g in granted] == [(), ()]
    names = [name for g in granted for name in g.cdi_devices]
    assert names == [f"intel.com/net-pci={IDS[i]}" for i in (0, 1, 3)]
    assert {"/dev/vfio/vfio", "/dev/vfio/101", "/dev/vfio/102", "/dev/vfio/104"} == set(paths(stage, *names))


def test_a_device_without_nodes_has_no_cdi_name_and_its_pool_no_file(tmp_path: Path) -> None:
    """A device without edits would make readers refuse the whole file."""
    stage = Stage(tmp_path, h1(), A, cdi=True)

    granted = stage.allocate("a", IDS[0])

    assert (granted.cdi_devices, granted.nodes) == ((), ())
    assert granted.environment["PCIDEVICE_INTEL_COM_A"] == IDS[0]
    assert resolvable(stage.cdi_directory) == {}


def test_in_a_mixed_pool_only_devices_with_nodes_are_named(tmp_path: Path) -> None:
    host = SimHost()
    function = host.pf("0000:3b:00.0", netdevs=["ens1f0"])
    for index, driver in enumerate(("vfio-pci", "iavf")):
        host.vf(function, index, driver=driver)
    stage = Stage(tmp_path, host, A, cdi=True)

    assert set(resolvable(stage.cdi_directory)) == {f"intel.com/net-pci={IDS[0]}"}
    assert stage.allocate("a", *IDS[:2]).cdi_devices == (f"intel.com/net-pci={IDS[0]}",)


def test_each_pool_has_a_file_and_a_second_start_the_same_ones(tmp_path: Path) -> None:
    """Case F04."""
    stage = Stage(tmp_path, h2(), A, B, cdi=True)
    first = {file.name: file.stat().st_ino for file in stage.cdi_directory.iterdir()}

    stage.start(A, B)

    assert {file.name: file.stat().st_ino for file in stage.cdi_directory.iterdir()} == first
    assert set(first) == {f"sriov-dp-intel.com-net-pci-{name}.yaml" for name in "ab"}
    assert len(resolvable(stage.cdi_directory)) == 4


def test_a_device_that_was_made_anew_is_described_anew_before_the_answer(tmp_path: Path) -> None:
    """Case F02: uverbs20 became uverbs22 since the list."""
    stage = Stage(tmp_path, rdma_host(), RDMA, cdi=True)
    path = stage.laid.function(IDS[0]).path
    RdmaDevice("rocep0", uverbs=20).remove(stage.laid.tree, path)
    RdmaDevice("rocep0", uverbs=22).lay(stage.laid.tree, path)

    granted = stage.allocate("rdma", IDS[0])

    assert paths(stage, *granted.cdi_devices) == ["/dev/infiniband/uverbs22", "/dev/infiniband/rdma_cm"]


def test_a_file_that_somebody_removed_is_there_again_before_the_answer(tmp_path: Path) -> None:
    """Case F02: the directory is a tmpfs that others clean up."""
    stage = Stage(tmp_path, h2(), A, cdi=True)
    for file in stage.cdi_directory.iterdir():
        file.unlink()

    granted = stage.allocate("a", IDS[1])

    assert paths(stage, *granted.cdi_devices) == ["/dev/vfio/vfio", "/dev/vfio/102"]
    assert len(resolvable(stage.cdi_directory)) == 2


def test_a_refused_allocation_changes_no_file(tmp_path: Path) -> None:
    """Case E03."""
    stage = Stage(tmp_path, h2(), A, cdi=True)
    stage.laid.tree.delete("dev/vfio/101")

    assert "/dev/vfio/101" in stage.refused("a", IDS[0], IDS[1])


def test_a_device_that_could_not_be_handed_out_is_not_described_until_it_can(tmp_path: Path) -> None:
    stage = Stage(tmp_path, h2(), A, cdi=True)
    stage.laid.tree.delete("dev/vfio/101")
    stage.start(A)
    assert set(resolvable(stage.cdi_directory)) == {f"intel.com/net-pci={IDS[1]}"}

    stage.laid.tree.node("dev/vfio/101")
    stage.reconcile()

    assert len(resolvable(stage.cdi_directory)) == 2


def test_nothing_is_announced_while_the_directory_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "cdi").write_text("in the way", encoding="utf-8")

    with pytest.raises(FilesUnwritable, match=str(tmp_path / "cdi")):
        Stage(tmp_path, h2(), A, cdi=True)


def test_an_allocation_fails_if_its_file_cannot_be_written(tmp_path: Path) -> None:
    """Case F02: an answer with an older file would be the wrong device."""
    stage = Stage(tmp_path, rdma_host(), RDMA, cdi=True)
    path = stage.laid.function(IDS[0]).path
    RdmaDevice("rocep0", uverbs=20).remove(stage.laid.tree, path)
    RdmaDevice("rocep0", uverbs=22).lay(stage.laid.tree, path)
    stage.cdi_directory.rename(tmp_path / "aside")
    stage.cdi_directory.write_text("in the way", encoding="utf-8")

    assert str(stage.cdi_directory) in stage.refused("rdma", IDS[0])


def test_a_host_without_nodes_needs_no_store() -> None:
    kern = pool("kern")
    store = FakeCdiStore()
    store.full = True
    publication = CdiPublication(store, Holdings(FakeDeviceUse()))
    assignment = assign(facts_h1(), [kern])

    lists = offers(facts_h1(), assignment, [kern])
    asyncio.run(publication.publish(facts_h1(), [kern], assignment, lists, (), looked=0.0))

    assert store.files == {}

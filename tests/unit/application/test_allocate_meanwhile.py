"""An Allocate that comes while a reconcile is on its way, or before it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from adapters.config.config_file import ConfigFile
from domain.announcement import Holding
from tests.contract.cdi_specification import resolvable
from tests.hosts.host import SimHost
from tests.hosts.named import h1, h2
from tests.hosts.rdma import RdmaDevice
from tests.unit.application.stage import Stage

KERN: dict[str, Any] = {"resourceName": "kern", "selectors": {"drivers": ["iavf"]}}
ALL: dict[str, Any] = {"resourceName": "all", "selectors": {"vendors": ["8086"]}}
VF = "0000:3b:01.0"


def test_a_device_handed_out_while_its_move_to_another_pool_is_prepared_does_not_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case B02: while the files are written. A kubelet may panic if a device leaves its list during its Allocate."""
    stage = Stage(tmp_path, h1(), KERN, ALL)
    assert VF in stage.listed("kern")
    config = tmp_path / "edited.json"
    config.write_text(json.dumps({"resourceList": [ALL, KERN]}), encoding="utf-8")
    stage.table.wanted = ConfigFile(config, "intel.com").load().pools
    write = stage._discovery._store.write
    granted: list[object] = []

    async def story() -> None:
        loop = asyncio.get_running_loop()

        def slow_write(records: Any) -> int:
            if not granted:
                granted.append("asked")
                call = stage._allocation.allocate(stage.name("kern"), [[VF]])
                granted.extend(asyncio.run_coroutine_threadsafe(call, loop).result(60))
            return write(records)

        monkeypatch.setattr(stage._discovery._store, "write", slow_write)
        while await stage._discovery.reconcile() == 0.0:
            pass

    asyncio.run(story())

    assert len(granted) == 2
    assert VF in stage.listed("kern")
    assert VF not in stage.listed("all")


def test_a_device_that_has_lost_its_driver_since_its_list_is_refused(tmp_path: Path) -> None:
    stage = Stage(tmp_path, h1(), ALL)
    stage.laid.rebind(VF, None)

    assert VF in stage.refused("all", VF)


def test_a_pf_that_has_got_vfs_since_its_list_is_refused(tmp_path: Path) -> None:
    host = SimHost()
    host.pf("0000:5e:00.0", netdevs=["ens2f0"], totalvfs=4)
    stage = Stage(tmp_path, host, ALL)
    stage.laid.create_vfs("0000:5e:00.0", 2)

    assert "0000:5e:00.0" in stage.refused("all", "0000:5e:00.0")


def test_a_device_that_the_kubelet_has_told_of_meanwhile_does_not_leave_its_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With CDI, where another device that has left is asked about while files are written."""
    first = {"resourceName": "first", "selectors": {"pfNames": ["ens1f0#0-1"]}}
    rest = {"resourceName": "rest", "selectors": {"drivers": ["vfio-pci"]}}
    stage = Stage(tmp_path, h2(), first, rest, cdi=True)
    config = tmp_path / "edited.json"
    config.write_text(json.dumps({"resourceList": [rest, first]}), encoding="utf-8")
    stage.table.wanted = ConfigFile(config, "intel.com").load().pools
    stage.laid.remove_function("0000:3b:01.3")
    write = stage._discovery._store.write
    granted: list[Any] = []

    async def story() -> None:
        loop = asyncio.get_running_loop()

        def slow_write(records: Any) -> int:
            if not granted:
                granted.append("asked")
                call = stage._allocation.allocate(stage.name("first"), [[VF]])
                granted.extend(asyncio.run_coroutine_threadsafe(call, loop).result(60))
                stage.hold("first", VF)
            return write(records)

        monkeypatch.setattr(stage._discovery._store, "write", slow_write)
        while await stage._discovery.reconcile() == 0.0:
            pass

    asyncio.run(story())

    assert VF in stage.listed("first")
    assert VF not in stage.listed("rest")
    assert granted[1].cdi_devices == (f"intel.com/net-pci={VF}",)
    assert f"intel.com/net-pci={VF}" in resolvable(stage.cdi_directory)


@pytest.mark.parametrize(
    "edited",
    [
        [],
        [{"resourceName": "dpdk", "deviceType": "accelerator", "selectors": {"pciClasses": ["02"]}}],
        [{"resourceName": "other", "selectors": {"drivers": ["vfio-pci"]}}],
    ],
)
def test_what_was_granted_by_name_can_be_resolved_whatever_becomes_of_its_pool(
    edited: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pool is taken out, of another type or named otherwise, while Allocate is under way; case F02."""
    stage = Stage(tmp_path, h2(), {"resourceName": "dpdk", "selectors": {"drivers": ["vfio-pci"]}}, cdi=True)
    config = tmp_path / "edited.json"
    config.write_text(json.dumps({"resourceList": edited}), encoding="utf-8")
    dpdk = stage.name("dpdk")
    stage.table.wanted = ConfigFile(config, "intel.com").load().pools
    put = stage._discovery._cdi._put  # type: ignore[union-attr]
    granted: list[Any] = []

    async def story() -> None:
        loop = asyncio.get_running_loop()

        def late_put(*how: Any) -> None:
            if not granted:
                granted.append("asked")
                call = stage._allocation.allocate(dpdk, [[VF]])
                granted.extend(asyncio.run_coroutine_threadsafe(call, loop).result(60))
                stage.device_use.held = frozenset({Holding(dpdk, VF)})
            put(*how)

        monkeypatch.setattr(stage._discovery._cdi, "_put", late_put)
        for _ in range(3):
            await stage._discovery.reconcile()
            assert set(granted[1].cdi_devices) <= resolvable(stage.cdi_directory).keys()

    asyncio.run(story())

    assert granted[1].cdi_devices == (f"intel.com/net-pci={VF}",)


def rdma_stage(directory: Path, *, cdi: bool = False) -> Stage:
    host = SimHost()
    host.vf(host.pf("0000:3b:00.0", netdevs=["ens1f0"]), 0, bdf=VF, children=[RdmaDevice("rocep0", uverbs=20)])
    return Stage(directory, host, {"resourceName": "rdma", "selectors": {"isRdma": True}}, cdi=cdi)


def change_rdma_device(stage: Stage) -> None:
    tree, path = stage.laid.tree, stage.laid.function(VF).path
    RdmaDevice("rocep0", uverbs=20).remove(tree, path)
    RdmaDevice("rocep7", uverbs=27).lay(tree, path)


def test_with_cdi_the_nodes_that_allocate_has_read_are_not_replaced_by_older_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever writes the file last."""
    stage = rdma_stage(tmp_path, cdi=True)
    store = stage._discovery._cdi._store  # type: ignore[union-attr]
    read = store.read
    granted: list[Any] = []

    async def story() -> None:
        loop = asyncio.get_running_loop()

        def slow_read(prefixes: Any) -> Any:
            found = read(prefixes)
            if not granted:
                change_rdma_device(stage)
                call = stage._allocation.allocate(stage.name("rdma"), [[VF]])
                granted.extend(asyncio.run_coroutine_threadsafe(call, loop).result(60))
            return found

        monkeypatch.setattr(store, "read", slow_read)
        assert await stage._discovery.reconcile() == 0.0, "it is looked at once more at once"

    asyncio.run(story())

    assert granted[0].cdi_devices == (f"intel.com/net-pci={VF}",)
    described = [node["hostPath"] for node in resolvable(stage.cdi_directory)[f"intel.com/net-pci={VF}"]]
    assert "/dev/infiniband/uverbs27" in described


def test_device_information_that_allocate_has_written_is_not_replaced_by_older(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = rdma_stage(tmp_path)
    look = stage._discovery._look

    def look_and_then(pools: Any) -> Any:
        seen = look(pools)
        monkeypatch.setattr(stage._discovery, "_look", look)
        change_rdma_device(stage)
        stage.allocate("rdma", VF)
        return seen

    monkeypatch.setattr(stage._discovery, "_look", look_and_then)
    stage.reconcile()

    assert stage.device_info("rdma", VF)["pci"]["rdma-device"] == "rocep7"

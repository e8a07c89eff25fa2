"""An Allocate that comes while a reconcile is on its way, or before it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from adapters.config.config_file import ConfigFile
from tests.hosts.host import SimHost
from tests.hosts.named import h1
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

"""A pool that resets its devices before a container gets them."""

import threading
from pathlib import Path
from typing import Any

import pytest

from domain.host import PciFunction
from tests.hosts.host import SimHost
from tests.hosts.rdma import RdmaDevice
from tests.unit.application.stage import Stage, nodes

VF = "0000:3b:01.0"
RDMA: dict[str, Any] = {"resourceName": "rdma", "selectors": {"isRdma": True}, "resetOnAllocate": True}


@pytest.mark.parametrize("cdi", [False, True])
@pytest.mark.parametrize("later", [0.0, 0.3])
def test_the_container_gets_the_nodes_that_there_are_after_the_reset(
    later: float, cdi: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case E12: a driver may make its RDMA device anew, with another number."""
    host = SimHost()
    host.vf(host.pf("0000:3b:00.0", netdevs=["ens1f0"]), 0, bdf=VF, children=[RdmaDevice("rocep0", uverbs=20)])
    stage = Stage(tmp_path, host, RDMA, cdi=cdi)
    tree, path = stage.laid.tree, stage.laid.function(VF).path

    def reset(function: PciFunction) -> None:
        RdmaDevice("rocep0", uverbs=20).remove(tree, path)
        if later:
            threading.Timer(later, RdmaDevice("rocep0", uverbs=21).lay, (tree, path)).start()
        else:
            RdmaDevice("rocep0", uverbs=21).lay(tree, path)

    monkeypatch.setattr(stage._allocation._control, "reset", reset)

    granted = stage.allocate("rdma", VF)

    if cdi:
        (file,) = stage.cdi_directory.glob("*rdma*")
        assert "/dev/infiniband/uverbs21" in file.read_text(encoding="utf-8")
    else:
        assert "/dev/infiniband/uverbs21" in nodes(granted)


def test_a_device_that_does_not_come_back_from_its_reset_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = SimHost()
    host.vf(host.pf("0000:3b:00.0", netdevs=["ens1f0"]), 0, bdf=VF, children=[RdmaDevice("rocep0", uverbs=20)])
    stage = Stage(tmp_path, host, RDMA)
    tree, path = stage.laid.tree, stage.laid.function(VF).path
    monkeypatch.setattr("application.allocation._SETTLES_WITHIN", 0.1)
    monkeypatch.setattr(
        stage._allocation._control, "reset", lambda _: RdmaDevice("rocep0", uverbs=20).remove(tree, path)
    )

    assert VF in stage.refused("rdma", VF)

"""VFs that are being removed: PF and VF have no link to each other any more, and the driver still has the VF."""

from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.sysfs.host_reader import SysfsHostReader
from tests.hosts.host import SimHost
from tests.hosts.laid import LaidHost
from tests.hosts.named import h1, h2, h3
from tests.unit.application.stage import Stage
from tests.unit.domain.facts import at

PF, VF = "0000:3b:00.0", "0000:3b:01.1"
BY_NAME = {"resourceName": "a", "selectors": {"pfNames": ["ens1f0"]}}
FALLBACK = {"resourceName": "b", "selectors": {"vendors": ["8086"]}}


def let_go(laid: LaidHost, vf: str = VF) -> None:
    """As the kernel does before it takes the VF from its driver."""
    function = laid.function(vf)
    assert function.physfn
    laid.tree.delete(f"{function.physfn.path}/virtfn{function.index}")
    laid.tree.delete(f"{function.path}/physfn")


@pytest.mark.parametrize("host", [h1, h2])
def test_a_vf_that_is_being_removed_is_in_no_other_pool_meanwhile(host: Callable[[], SimHost], tmp_path: Path) -> None:
    """Case B03: nobody gets what is about to go."""
    stage = Stage(tmp_path, host(), BY_NAME, FALLBACK)
    let_go(stage.laid)

    assert stage.refused("a", VF).endswith(f"cannot be used: being removed, or made: no link to its PF {PF}")
    stage.reconcile()

    assert VF not in {**stage.listed("a"), **stage.listed("b")}
    assert PF in stage.reader.read().unreadable[VF]
    assert stage.refused("b", VF)
    assert len(stage.listed("a")) == 3


def test_a_vf_that_was_being_removed_at_the_last_look_is_not_a_function_of_its_own_in_a_reread(tmp_path: Path) -> None:
    laid = h1().lay(tmp_path)
    let_go(laid)
    reader = SysfsHostReader(tmp_path)

    seen = reader.reread(reader.read(), [VF])

    assert at(VF) not in seen.functions
    assert PF in seen.unreadable[VF]


def test_each_port_of_a_card_knows_its_own_vfs(tmp_path: Path) -> None:
    """Offsets of more than a bus's slot, as a second port has them."""
    laid = h3().lay(tmp_path)
    vfs = [bdf for bdf, f in laid.description.functions.items() if f.physfn]
    for vf in vfs:
        let_go(laid, vf)

    seen = SysfsHostReader(tmp_path).read()

    assert {vf: seen.unreadable[vf].rpartition(" ")[2] for vf in vfs} == {
        vf: str(f.physfn.bdf) for vf, f in laid.description.functions.items() if f.physfn
    }


@pytest.mark.parametrize(
    ("bdf", "device"), [("0000:3b:02.0", "1889"), ("0000:3b:01.1", "1533"), ("0001:3b:01.1", "1889")]
)
def test_a_function_that_is_not_a_vf_of_any_pf_is_offered(bdf: str, device: str, tmp_path: Path) -> None:
    """A guest's VF at another address than those of a PF it has too; another function at such an address."""
    host = SimHost()
    host.pf(PF, netdevs=["ens1f0"], totalvfs=8)
    host.function(bdf, device=device, driver="iavf", netdevs=["ens6"])

    assert bdf in Stage(tmp_path, host, FALLBACK).listed("b")


def test_a_pf_that_has_room_for_one_vf_may_have_no_stride(tmp_path: Path) -> None:
    host = SimHost()
    host.vf(host.pf(PF, netdevs=["ens1f0"], totalvfs=1, stride=0), 0)
    laid = host.lay(tmp_path)
    let_go(laid, "0000:3b:01.0")

    assert "0000:3b:01.0" in SysfsHostReader(tmp_path).read().unreadable

"""How many VFs a PF has, while somebody else is changing that."""

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from threading import enumerate as threads
from typing import Any

import pytest
from pytest_mock import MockerFixture

from adapters.sysfs.host_reader import SysfsHostReader
from tests.hosts.host import SimHost
from tests.hosts.named import h1
from tests.unit.application.stage import Stage
from tests.unit.domain.facts import at

PF = "0000:3b:00.0"
OTHER_VF = "0000:5e:01.0"


class Busy:
    """A PF whose device lock a writer holds: whoever opens sriov_numvfs waits, as a reader of it would."""

    def __init__(self, mocker: MockerFixture) -> None:
        self.free = Event()
        self.pf = ""
        self.opened = 0
        self._open = os.open
        mocker.patch("adapters.sysfs.tree.os.open", self._waits)

    def _waits(self, path: str, *rest: Any, **named: Any) -> int:
        if self.pf and str(path).endswith(f"{self.pf}/sriov_numvfs"):
            self.opened += 1
            self.free.wait()
        return self._open(path, *rest, **named)

    def let_go(self) -> None:
        self.pf = ""
        self.free.set()
        for thread in threads():
            if thread.name.startswith("VFs of "):
                thread.join()


@pytest.fixture
def busy(mocker: MockerFixture) -> Iterator[Busy]:
    stuck = Busy(mocker)
    yield stuck
    stuck.let_go()


def two_ports() -> SimHost:
    host = SimHost()
    host.pf(PF, netdevs=["ens1f0"])
    host.vf(host.pf("0000:5e:00.0", netdevs=["ens2f0"]), 0)
    return host


def test_a_pf_with_links_to_its_vfs_is_not_asked_how_many_it_has(tmp_path: Path, busy: Busy) -> None:
    h1().lay(tmp_path)
    busy.pf = PF

    assert SysfsHostReader(tmp_path).read().functions[at(PF)].vf_count == 4
    assert busy.opened == 0


def test_a_pf_that_does_not_answer_keeps_nobody_waiting_and_has_as_many_vfs_as_before(
    tmp_path: Path, busy: Busy
) -> None:
    """Case I01: one busy PF costs itself."""
    laid = two_ports().lay(tmp_path)
    laid.create_vfs(PF, 2)
    reader = SysfsHostReader(tmp_path)
    reader.read()
    laid.remove_vfs(PF)
    busy.pf = PF

    seen = [reader.read() for _ in range(3)]
    again = reader.reread(seen[-1], [PF])

    assert [host.functions[at(PF)].vf_count for host in (*seen, again)] == [2, 2, 2, 2]
    assert at(OTHER_VF) in seen[0].functions
    assert busy.opened == 1


def test_a_pf_that_never_answered_is_no_device_until_it_does(tmp_path: Path, busy: Busy) -> None:
    """Case D13: its VFs may be going."""
    stage = Stage(tmp_path, two_ports())
    busy.pf = PF

    stage.start({"resourceName": "p", "selectors": {}})
    assert list(stage.listed("p")) == [OTHER_VF]

    busy.let_go()
    stage.reconcile()
    assert list(stage.listed("p")) == [PF, OTHER_VF]

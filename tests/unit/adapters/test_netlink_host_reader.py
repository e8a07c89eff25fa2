"""What netlink adds to a host: DDP packages and alternative names, from answers that a test gives."""

from collections.abc import Collection, Mapping
from pathlib import Path

import pytest
from pyroute2.netlink.exceptions import NetlinkError

from adapters.netlink.host_reader import NetlinkHostReader, Questions
from adapters.netlink.question import Incomplete
from adapters.sysfs.host_reader import SysfsHostReader
from application.ports.host_reader import HostReader
from domain.facility_selectors import DdpProfiles
from domain.host import Host
from domain.index_ranges import IndexRanges
from domain.pci import PciAddress
from domain.pf_selectors import PfNames
from domain.selector import Selector
from tests.fakes.journal import FakeJournal
from tests.hosts.host import SimHost
from tests.hosts.laid import LaidHost
from tests.unit.application.stage import Stage
from tests.unit.domain.facts import at, pool

PF, OTHER_PF = "0000:3b:00.0", "0000:af:00.0"
VFS = [f"0000:3b:01.{i}" for i in range(4)]
COMMS = "ICE COMMS Package"
DDP = {"resourceName": "p", "selectors": {"ddpProfiles": [COMMS]}}


class Netlink:
    """Answers, or an error instead; counts the questions."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked: list[str] = []
        self.profiles = {at(PF): COMMS, at(OTHER_PF): "ICE OS Default Package", at("0000:99:00.0"): "not here"}
        self.names = {"enp59s0f0": ("sriov1", "eth0"), "lo": ("loopback",)}
        self.journal = FakeJournal()

    def reader(self, laid: LaidHost, *pf_names: str, profiles: bool = False) -> HostReader:
        questions = Questions(self._ddp_profiles, self._alternative_names)
        sysfs = SysfsHostReader(laid.root)
        conditions: list[Selector] = [PfNames.of(IndexRanges.split(name) for name in pf_names)] if pf_names else []
        conditions += [DdpProfiles.of([COMMS])] if profiles else []
        return NetlinkHostReader(sysfs, questions, lambda: [pool("p", *conditions)], self.journal)

    def _ddp_profiles(self) -> Mapping[PciAddress, str]:
        self._ask("devlink")
        return self.profiles

    def _alternative_names(self) -> Mapping[str, tuple[str, ...]]:
        self._ask("rtnetlink")
        return self.names

    def _ask(self, whom: str) -> None:
        self.asked.append(whom)
        if self.error:
            raise self.error


def host() -> SimHost:
    """Two E810 PFs, the first with four VFs, the second without any."""
    host = SimHost()
    host.vfs(host.pf(PF, netdevs=["enp59s0f0"]), 4)
    host.pf(OTHER_PF, netdevs=["enp175s0f0"])
    return host


def named(*entries: str) -> dict[str, object]:
    return {"resourceName": "p", "selectors": {"pfNames": list(entries)}}


def test_a_ddp_package_chooses_the_vfs_of_the_pf_that_runs_it(tmp_path: Path) -> None:
    """Case D17: one question, whatever the number of VFs."""
    stage, netlink = Stage(tmp_path, host()), Netlink()

    stage.start(DDP, reader=netlink.reader(stage.laid, profiles=True))

    assert list(stage.listed("p")) == VFS
    assert stage.why_not(OTHER_PF) == f"ddpProfiles: wanted {COMMS.lower()}, found ICE OS Default Package"
    assert netlink.asked == ["devlink"] * 2  # once by the start, once by why_not


@pytest.mark.parametrize(("package", "id_"), [(COMMS, VFS[2]), ("ICE OS Default Package", OTHER_PF)])
def test_a_device_chosen_by_its_package_is_handed_out_without_asking_again(
    package: str, id_: str, tmp_path: Path
) -> None:
    """Case D17: a VF, and a PF that is a device itself."""
    stage, netlink = Stage(tmp_path, host()), Netlink()
    pool = {"resourceName": "p", "selectors": {"ddpProfiles": [package]}}
    stage.start(pool, reader=netlink.reader(stage.laid, profiles=True))

    assert stage.allocate("p", id_).environment["PCIDEVICE_INTEL_COM_P"] == id_
    assert netlink.asked == ["devlink"]


@pytest.mark.parametrize(
    ("entry", "chosen"),
    [
        ("sriov1#0-1", VFS[:2]),
        ("eth0#3", VFS[3:]),
        ("SRIOV1", VFS),
        ("enp59s0f0#2", VFS[2:3]),
        ("re:sriov.#1", VFS[1:2]),
        ("sriov2", []),
        ("loopback", []),
    ],
)
def test_an_alternative_name_stands_for_the_pf_like_its_first(entry: str, chosen: list[str], tmp_path: Path) -> None:
    """Case D05."""
    stage, netlink = Stage(tmp_path, host()), Netlink()

    stage.start(named(entry), reader=netlink.reader(stage.laid, entry.partition("#")[0]))

    assert list(stage.listed("p")) == chosen


def test_a_device_chosen_by_an_alternative_name_is_handed_out(tmp_path: Path) -> None:
    """Case D05."""
    stage, netlink = Stage(tmp_path, host()), Netlink()
    stage.start(named("sriov1"), reader=netlink.reader(stage.laid, "sriov1"))

    assert stage.allocate("p", VFS[0]).environment["PCIDEVICE_INTEL_COM_P"] == VFS[0]


def test_the_trail_shows_all_names_of_a_pf(tmp_path: Path) -> None:
    """Case D05."""
    stage, netlink = Stage(tmp_path, host()), Netlink()
    stage.start(named("sriov1#7"), reader=netlink.reader(stage.laid, "sriov1"))

    assert stage.why_not(VFS[1]) == "pfNames: wanted sriov1#7, found enp59s0f0/sriov1/eth0#1"


@pytest.mark.parametrize("names", [(), ("enp59s0f0",), ("ENP59S0F0", "enp175s0f0")])
def test_nothing_is_asked_while_every_name_is_an_interfaces_first(names: Collection[str], tmp_path: Path) -> None:
    netlink = Netlink()
    reader = netlink.reader(host().lay(tmp_path), *names)

    seen = reader.read()

    assert netlink.asked == []
    assert seen == SysfsHostReader(tmp_path).read()


@pytest.mark.parametrize("error", [OSError(1, "Operation not permitted"), KeyError("NLA"), RuntimeError("no devlink")])
def test_without_an_answer_sysfs_is_served_and_the_consequence_said_once(error: Exception, tmp_path: Path) -> None:
    """Case D17: devlink or netlink missing on a node."""
    netlink = Netlink(error)
    laid = host().lay(tmp_path)
    reader = netlink.reader(laid, "sriov1", profiles=True)

    seen: list[Host] = [reader.read() for _ in range(3)]

    assert seen == [SysfsHostReader(tmp_path).read()] * 3
    said = netlink.journal.told("netlink gives no answer")
    assert [(s["consequence"], repr(error) == s["reason"]) for s in said] == [
        ("ddpProfiles match nothing", True),
        ("alternative names in pfNames match nothing", True),
    ]


def test_answers_that_come_later_are_used(tmp_path: Path) -> None:
    stage, netlink = Stage(tmp_path, host()), Netlink(OSError(1, "not yet"))
    stage.start(DDP, reader=netlink.reader(stage.laid, profiles=True))
    assert stage.listed("p") == {}

    netlink.error = None
    stage.reconcile()

    assert list(stage.listed("p")) == VFS


REST = {"resourceName": "rest", "selectors": {"vendors": ["8086"]}}


@pytest.mark.parametrize("error", [OSError(105, "No buffer space available"), NetlinkError(16, "busy")])
@pytest.mark.parametrize("first", [DDP, named("sriov1")])
def test_a_question_that_fails_moves_no_device(first: dict[str, object], error: Exception, tmp_path: Path) -> None:
    """An ice PF in its reset answers EBUSY; messages that came too fast for the buffer are ENOBUFS."""
    stage, netlink = Stage(tmp_path, host()), Netlink()
    stage.start(first, REST, reader=netlink.reader(stage.laid, "sriov1", profiles=True))
    assert list(stage.listed("p")) == VFS

    netlink.error = error
    stage.reconcile()

    assert list(stage.listed("p")) == VFS
    assert list(stage.listed("rest")) == [OTHER_PF]


def test_an_answer_replaces_the_one_that_was_kept(tmp_path: Path) -> None:
    netlink = Netlink()
    reader = netlink.reader(host().lay(tmp_path), profiles=True)
    reader.read()
    netlink.error = OSError(105, "No buffer space available")
    reader.read()
    netlink.error, netlink.profiles = None, {}

    assert reader.read() == SysfsHostReader(tmp_path).read()


def test_each_time_without_answers_is_said_once(tmp_path: Path) -> None:
    netlink = Netlink(OSError(1, "not yet"))
    reader = netlink.reader(host().lay(tmp_path), profiles=True)

    for error in (netlink.error, netlink.error, None, OSError(105, "full"), OSError(105, "full"), None, KeyError("x")):
        netlink.error = error
        reader.read()

    said = [s["consequence"] for s in netlink.journal.told("netlink gives no answer")]
    assert said == ["ddpProfiles match nothing"] + ["ddpProfiles are those that were told last"] * 2


def test_of_an_answer_that_broke_off_what_came_counts_and_the_rest_is_kept(tmp_path: Path) -> None:
    netlink = Netlink()
    reader = netlink.reader(host().lay(tmp_path), profiles=True)
    reader.read()

    netlink.error = Incomplete("devlink broke off: Input/output error", {at(PF): "new"})
    functions = reader.read().functions

    assert functions[at(PF)].ddp_profile == "new"
    assert functions[at(OTHER_PF)].ddp_profile == "ICE OS Default Package"
    (said,) = netlink.journal.told("netlink gives no answer")
    assert "Input/output error" in said["reason"]

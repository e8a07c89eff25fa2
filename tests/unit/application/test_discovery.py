import asyncio
from dataclasses import dataclass, field, replace

import pytest

from application.discovery import Discovery
from application.holdings import Holdings
from application.link_holds import LinkHolds
from application.occupancy import Occupancy
from application.orphans import Orphans
from application.pool_table import PoolTable
from application.recovery import DriverRecovery
from application.signs_of_use import SignsOfUse
from application.tidings import Tidings
from domain.announcement import GONE, Announced, Holding
from domain.errors import FilesUnwritable
from domain.host import Host
from domain.pool import PoolSpec
from domain.selectors import Drivers, Vendors
from tests.fakes.device_info_store import FakeDeviceInfoStore
from tests.fakes.device_use import FakeDeviceUse
from tests.fakes.function_control import FakeFunctionControl
from tests.fakes.host_reader import FakeHostReader
from tests.fakes.journal import FakeJournal
from tests.fakes.pool_publisher import FakePoolPublisher
from tests.unit.domain.facts import h1, host, pf, pool, vf

KERN, DPDK = pool("kern", Drivers.of(["iavf"])), pool("dpdk", Drivers.of(["vfio-pci"]))


@dataclass
class Node:
    """A discovery with fakes all around."""

    pools: list[PoolSpec]
    reader: FakeHostReader
    store: FakeDeviceInfoStore = field(default_factory=FakeDeviceInfoStore)
    publisher: FakePoolPublisher = field(default_factory=FakePoolPublisher)
    use: FakeDeviceUse = field(default_factory=FakeDeviceUse)
    journal: FakeJournal = field(default_factory=FakeJournal)
    control: FakeFunctionControl = field(default_factory=FakeFunctionControl)
    now: float = 0.0

    def __post_init__(self) -> None:
        self.holdings = Holdings(self.use, lambda: self.now)
        self.table = PoolTable(self.pools)
        tidings = Tidings(self.journal)
        self.discovery = Discovery(
            self.table,
            self.reader,
            self.publisher,
            self.store,
            None,
            self.holdings,
            DriverRecovery(self.control, self.holdings, self.journal),
            tidings,
            LinkHolds(lambda: self.now),
            Occupancy(self.holdings, SignsOfUse(self.control)),
            Orphans(self.store, self.holdings, tidings),
        )

    def reconcile(self) -> float | None:
        return asyncio.run(self.discovery.reconcile())


def node(seen: Host, *pools: PoolSpec) -> Node:
    return Node(list(pools), FakeHostReader(seen))


def ids(entries: tuple[Announced, ...]) -> list[str]:
    return [e.id for e in entries]


def test_the_first_round_publishes_whole_lists_and_writes_device_information_before() -> None:
    """Cases A07 (1), E10."""
    n = node(h1(), KERN, DPDK)

    n.reconcile()

    assert [(name, len(entries)) for name, entries in n.publisher.messages] == [("intel.com/kern", 4)]
    assert sorted(n.store.names()) == [f"intel.com-kern-0000:3b:01.{i}-device.json" for i in range(4)]


def test_rounds_on_an_unchanged_host_publish_nothing() -> None:
    """Case B09, with functions in another order each time."""
    n = node(h1(), KERN, DPDK)
    n.reconcile()

    for _ in range(10):
        n.reader.host = replace(n.reader.host, functions=dict(reversed(list(n.reader.host.functions.items()))))
        n.reconcile()

    assert len(n.publisher.messages) == 1
    assert len(n.journal.told("pool changed")) == 1


def test_a_pool_appears_with_its_first_device_and_disturbs_no_other() -> None:
    """Case B01."""
    n = node(host(pf(vfs=0)), KERN)
    n.reconcile()
    assert n.journal.told("nothing to serve") == [{"pools": 1}]
    assert n.publisher.messages == []

    n.reader.host = h1()
    n.reconcile()

    assert [(name, len(entries)) for name, entries in n.publisher.messages] == [("intel.com/kern", 4)]


def test_a_held_device_that_vanished_stays_unhealthy_with_its_file_until_it_is_given_back() -> None:
    """Cases B03, B10, E11."""
    n = node(h1(), KERN)
    n.reconcile()
    n.use.held = frozenset({Holding(KERN.name, "0000:3b:01.3")})
    n.reader.host = host(pf(vfs=2), vf(0), vf(1))

    n.reconcile()

    assert n.publisher.lists[KERN.name][2] == Announced("0000:3b:01.3", fault=GONE)
    assert ids(n.publisher.lists[KERN.name]) == ["0000:3b:01.0", "0000:3b:01.1", "0000:3b:01.3"]
    assert "intel.com-kern-0000:3b:01.3-device.json" in n.store.names()
    assert "intel.com-kern-0000:3b:01.2-device.json" not in n.store.names()

    n.use.held = frozenset()
    n.reconcile()

    assert ids(n.publisher.lists[KERN.name]) == ["0000:3b:01.0", "0000:3b:01.1"]
    assert "intel.com-kern-0000:3b:01.3-device.json" not in n.store.names()


def test_nothing_is_dropped_while_nobody_can_tell_what_pods_hold() -> None:
    n = node(h1(), KERN, DPDK)
    n.reconcile()
    n.use.held = None
    n.reader.host = h1(driver="vfio-pci")

    n.reconcile()

    assert [e.fault for e in n.publisher.lists[KERN.name]] == [GONE] * 4
    assert DPDK.name not in n.publisher.lists
    assert len(n.store.names()) == 4


def test_a_device_just_handed_out_counts_as_held_before_the_kubelet_lists_it() -> None:
    """The kubelet panics if a device leaves the list during its Allocate (1.34 to 1.37)."""
    n = node(h1(), KERN)
    n.reconcile()
    with n.holdings.handing_out([Holding(KERN.name, "0000:3b:01.3")]):
        pass
    n.reader.host = host(pf(vfs=2), vf(0), vf(1))

    n.reconcile()
    assert "0000:3b:01.3" in ids(n.publisher.lists[KERN.name])

    n.now = 120.0
    n.reconcile()
    assert "0000:3b:01.3" not in ids(n.publisher.lists[KERN.name])


def test_device_information_of_other_prefixes_is_none_of_our_business() -> None:
    n = node(h1(), KERN)
    theirs = {"example.com-x-0000:3b:01.0-device.json", "intel.community-x-1-device.json"}
    n.store.records = {name: {} for name in (*theirs, "intel.com-renamed-0000:3b:01.0-device.json")}

    n.reconcile()

    assert {name for name in n.store.names() if "kern" not in name} == theirs
    assert n.journal.told("device information removed")[0]["first"] == "intel.com-renamed-0000:3b:01.0-device.json"


def test_nothing_is_announced_when_device_information_cannot_be_written() -> None:
    n = node(h1(), KERN)
    n.store.full = True

    try:
        n.reconcile()
    except FilesUnwritable as error:
        assert "No space left" in str(error)  # noqa: PT017 - what follows matters as well
    else:
        raise AssertionError("written to a full disk")

    assert n.publisher.messages == []
    assert not any(n.table.lists.values())


def test_a_function_that_cannot_be_read_is_told_once() -> None:
    """Case I01."""
    n = node(replace(h1(), unreadable={"0000:5e:00.0": "class: Input/output error"}), pool("a", Vendors.of(["8086"])))

    n.reconcile()
    n.reconcile()

    assert n.journal.told("device left out") == [{"device": "0000:5e:00.0", "reason": "class: Input/output error"}]
    assert len(n.publisher.lists[pool("a").name]) == 4


def test_a_pool_emptied_by_another_is_told_with_the_others_name() -> None:
    """Case D08."""
    n = node(h1(), pool("a"), pool("b"))

    n.reconcile()
    n.reconcile()

    (told,) = n.journal.told("pool is empty")
    assert told["resource"] == "intel.com/b"
    assert "intel.com/a" in told["reason"]


def test_while_files_cannot_be_written_what_is_worse_is_told_and_nothing_new() -> None:
    n = node(h1(), KERN)
    n.reconcile()
    n.store.full = True
    n.reader.host = host(pf(vfs=3), vf(0), vf(1), vf(7, "0000:3b:01.7"))

    with pytest.raises(FilesUnwritable):
        n.reconcile()

    assert ids(n.publisher.lists[KERN.name]) == ["0000:3b:01.0", "0000:3b:01.1"]

    n.store.full = False
    n.reconcile()
    assert ids(n.publisher.lists[KERN.name]) == ["0000:3b:01.0", "0000:3b:01.1", "0000:3b:01.7"]

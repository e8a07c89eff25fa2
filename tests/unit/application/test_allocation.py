import asyncio
import threading
import time
from collections.abc import Collection
from dataclasses import replace

import pytest

from application.allocation import Allocation
from application.bounded_calls import BoundedCalls
from application.holdings import Holdings
from application.pool_table import PoolTable
from domain.announcement import Announced, Holding, offers
from domain.assignment import assign
from domain.errors import DeviceUnusable, FacilityMissing, HostUnresponsive, SriovError, UnknownDevice
from domain.exposure import Grant
from domain.host import Host
from domain.selectors import Drivers
from tests.fakes.device_info_store import FakeDeviceInfoStore
from tests.fakes.device_use import FakeDeviceUse
from tests.fakes.function_control import FakeFunctionControl
from tests.fakes.host_reader import FakeHostReader
from tests.fakes.journal import FakeJournal
from tests.unit.domain.facts import host, pf, pool, vf

DPDK = pool("dpdk", Drivers.of(["vfio-pci"]))
IDS = [f"0000:3b:01.{i}" for i in range(4)]


def h2() -> Host:
    vfs = (vf(i, driver="vfio-pci", iommu_group=str(101 + i)) for i in range(4))
    nodes = frozenset({"/dev/vfio/vfio", *(f"/dev/vfio/{101 + i}" for i in range(4))})
    return host(pf(), *vfs, nodes=nodes)


class Node:
    """An allocation over H2 as it was discovered."""

    def __init__(self, reader: FakeHostReader | None = None, time_limit: float = 5.0) -> None:
        self.reader = reader or FakeHostReader(h2())
        self.store = FakeDeviceInfoStore()
        self.control = FakeFunctionControl()
        self.journal = FakeJournal()
        self.table = PoolTable([DPDK], [DPDK], h2(), offers(h2(), assign(h2(), [DPDK]), [DPDK]))
        self.holdings = Holdings(FakeDeviceUse())
        self._allocation = Allocation(
            self.table,
            self.reader,
            self.store,
            None,
            self.control,
            self.holdings,
            self.journal,
            BoundedCalls(time_limit),
        )

    def allocate(self, *containers: list[str]) -> tuple[Grant, ...]:
        return asyncio.run(self._allocation.allocate(DPDK.name, containers))

    def refused(self, *containers: list[str]) -> SriovError:
        """The error; and nothing must have been written or handed out."""
        with pytest.raises(SriovError) as caught:
            self.allocate(*containers)
        assert self.store.records == {}
        assert self.journal.told("allocated") == []
        return caught.value


def test_each_container_gets_its_own_devices() -> None:
    """Case E04."""
    n = Node()

    first, second = n.allocate([IDS[1], IDS[0]], [IDS[2]])

    assert first.environment["PCIDEVICE_INTEL_COM_DPDK"] == f"{IDS[0]},{IDS[1]}"
    assert second.environment["PCIDEVICE_INTEL_COM_DPDK"] == IDS[2]
    assert [node.host for node in second.nodes] == ["/dev/vfio/vfio", "/dev/vfio/103"]
    assert len(n.store.records) == 3
    assert n.journal.told("allocated") == [{"resource": "intel.com/dpdk", "devices": IDS[:3]}]


def test_an_unknown_id_fails_the_whole_call() -> None:
    """Case E08."""
    n = Node()

    error = n.refused([IDS[0], "0000:ff:00.0"])

    assert isinstance(error, UnknownDevice)
    assert "0000:ff:00.0" in str(error)
    assert "intel.com/dpdk" in str(error)
    assert isinstance(n.refused(["no address at all"]), UnknownDevice)


def test_a_device_with_a_fault_is_refused_with_it() -> None:
    """Case E08."""
    n = Node()
    n.table.lists = {DPDK.name: (Announced(IDS[0], fault="link is down"),)}

    error = n.refused([IDS[0]])

    assert isinstance(error, DeviceUnusable)
    assert "link is down" in str(error)


def test_facts_are_read_afresh() -> None:
    """Case F02's kind: the group changed since the last reconcile."""
    n = Node()
    n.reader.host = host(
        pf(), vf(0, driver="vfio-pci", iommu_group="7"), nodes=frozenset({"/dev/vfio/7", "/dev/vfio/vfio"})
    )

    (granted,) = n.allocate([IDS[0]])

    assert [node.host for node in granted.nodes] == ["/dev/vfio/vfio", "/dev/vfio/7"]


def test_a_device_that_has_gone_is_refused() -> None:
    """Case I11's kind."""
    n = Node()
    n.reader.host = host(pf(vfs=0))

    error = n.refused([IDS[0]])

    assert isinstance(error, DeviceUnusable)
    assert IDS[0] in str(error)
    assert "gone" in str(error)


def test_a_device_rebound_to_another_driver_is_refused_with_both_drivers() -> None:
    n = Node()
    n.reader.host = host(pf(), vf(0, driver="iavf"))

    error = n.refused([IDS[0]])

    assert "drivers: wanted vfio-pci, found iavf" in str(error)


def test_a_missing_node_fails_the_whole_call() -> None:
    """Case E03 (b)."""
    n = Node()
    n.reader.host = replace(h2(), nodes=h2().nodes - {"/dev/vfio/102"})

    error = n.refused([IDS[0]], [IDS[1]])

    assert isinstance(error, FacilityMissing)
    assert "/dev/vfio/102" in str(error)


def test_a_host_that_does_not_answer_ends_the_call_by_our_own_limit() -> None:
    """The kubelet sets none, and admits no other pod meanwhile (facts/kubelet.md 5.6)."""

    class Hanging(FakeHostReader):
        def reread(self, host: Host, ids: Collection[str]) -> Host:
            time.sleep(0.5)
            return super().reread(host, ids)

    error = Node(Hanging(h2()), time_limit=0.05).refused([IDS[0]])

    assert isinstance(error, HostUnresponsive)
    assert IDS[0] in str(error)


class Stuck(FakeHostReader):
    """Reads of one device hang until they are freed; from the second on it is gone."""

    def __init__(self) -> None:
        super().__init__(h2())
        self.free = threading.Event()
        self.reads = 0

    def reread(self, host: Host, ids: Collection[str]) -> Host:
        if IDS[0] not in ids:
            return host
        self.reads += 1
        if self.reads > 1:
            return replace(host, functions={})
        self.free.wait()
        return host


def test_a_device_whose_read_hangs_is_refused_at_once_and_keeps_nobody_else_waiting() -> None:
    """Each try would cost a thread, and ten seconds of all admissions on the node."""
    reader = Stuck()
    n = Node(reader, time_limit=0.05)

    for _ in range(100):
        assert isinstance(n.refused([IDS[0]]), HostUnresponsive)
    assert reader.reads == 1
    n.allocate([IDS[1]])
    reader.free.set()


@pytest.mark.parametrize("reset", [False, True])
def test_a_call_that_was_given_up_changes_nothing_when_it_goes_on(reset: bool) -> None:
    """By then another container may have the device."""
    reader = Stuck()
    n = Node(reader, time_limit=0.05)
    n.table.served = [replace(DPDK, reset_on_allocate=reset)]
    n.refused([IDS[0]])

    reader.free.set()
    while isinstance(n.refused([IDS[0]]), HostUnresponsive):
        time.sleep(0.01)

    assert n.control.resets == []


def test_what_is_being_handed_out_counts_as_held() -> None:
    n = Node()

    n.allocate([IDS[0]])

    assert asyncio.run(n.holdings.known()) == frozenset({Holding(DPDK.name, IDS[0])})


def test_an_empty_request_gets_an_empty_answer_for_each_container() -> None:
    assert len(Node().allocate([], [])) == 2

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from application.holdings import Holdings
from application.recovery import DriverRecovery
from domain.announcement import Holding
from domain.assignment import assign
from domain.errors import DeviceUnusable
from domain.host import AuxiliaryDevice, DefaultRoute, Host, UpperDevice
from domain.pool import DeviceType, PoolSpec
from domain.resource_name import ResourceName
from domain.selectors import Drivers, Vendors
from tests.fakes.device_use import FakeDeviceUse
from tests.fakes.function_control import FakeFunctionControl
from tests.fakes.journal import FakeJournal
from tests.unit.domain.facts import at, function, host, pf, pool, vf

KERN = pool("kern", Drivers.of(["iavf"]), restore_driver=True)
ASTRAY = "0000:3b:01.1"
INTEL = Vendors.of(["8086"])


def h1(driver: str | None = "vfio-pci") -> Host:
    """One of four VFs is on another driver than the others."""
    return host(pf(), *(vf(i, driver=driver if i == 1 else "iavf") for i in range(4)))


@dataclass
class Recovery:
    """A recovery with fakes all around."""

    control: FakeFunctionControl = field(default_factory=FakeFunctionControl)
    use: FakeDeviceUse = field(default_factory=FakeDeviceUse)
    journal: FakeJournal = field(default_factory=FakeJournal)
    now: float = 0.0

    def __post_init__(self) -> None:
        self.holdings = Holdings(self.use)
        self._recovery = DriverRecovery(self.control, self.holdings, self.journal, lambda: self.now)

    def recover(self, seen: Host, *pools: PoolSpec) -> bool:
        return asyncio.run(self._recovery.recover(seen, pools, assign(seen, pools)))


@pytest.mark.parametrize("driver", ["vfio-pci", None])
def test_a_vf_that_only_its_driver_keeps_out_is_bound_back_and_told(driver: str | None) -> None:
    """Case E12 (b)."""
    r = Recovery()

    assert r.recover(h1(driver), KERN)
    assert r.control.binds == [(ASTRAY, "iavf")]
    assert r.journal.told("driver restored") == [{"device": ASTRAY, "driver": "iavf", "before": driver}]


def test_nothing_is_done_without_the_option_or_without_need() -> None:
    r = Recovery()

    assert not r.recover(h1(), replace(KERN, restore_driver=False))
    assert not r.recover(h1("iavf"), KERN)
    assert r.control.binds == []


@pytest.mark.parametrize("resource", [KERN.name, ResourceName("example.com", "x")])
def test_a_vf_that_a_container_holds_is_left_alone_whichever_pool_it_is_from(resource: ResourceName) -> None:
    r = Recovery()
    r.use.held = frozenset({Holding(resource, ASTRAY)})

    assert not r.recover(h1(), KERN)
    assert r.control.binds == []
    assert r.journal.events == []


def test_nothing_is_done_while_nobody_can_tell_who_holds_what_and_that_is_told_once() -> None:
    r = Recovery()
    r.use.held = None

    assert not r.recover(h1(), KERN)
    assert not r.recover(h1(), KERN)
    assert r.control.binds == []
    (told,) = r.journal.told("driver not restored")
    assert "pod-resources" in told["reason"]

    r.use.held = frozenset()
    assert r.recover(h1(), KERN)


def test_a_refusal_is_told_once_and_again_when_the_reason_is_another_one() -> None:
    r = Recovery()
    for reason in ("one", "one", "two", "one"):
        r.control.refusal = reason
        assert not r.recover(h1(), KERN)
        r.now += 1000

    told = [facts["reason"] for facts in r.journal.told("driver not restored")]
    assert [text.rpartition(" ")[2] for text in told] == ["one", "two", "one"]
    assert r.journal.told("driver restored") == []


def test_after_a_refusal_the_next_try_waits_twice_as_long_each_time() -> None:
    """A try unbinds and binds: a change of the host, which would be followed by the next look at once."""
    r = Recovery()
    tries = []
    for second in range(32):
        r.now = float(second)
        r.control.refusal = str(second)
        r.recover(h1(), KERN)
        tries.append(len(r.journal.told("driver not restored")))

    assert [second for second in range(1, 32) if tries[second] > tries[second - 1]] == [2, 6, 14, 30]


def test_one_refusal_keeps_no_other_vf_from_its_driver() -> None:
    r = Recovery()
    seen = host(pf(), *(vf(i, driver="vfio-pci") for i in range(4)))
    r.control.bound = lambda function, driver: setattr(r.control, "refusal", "no more")

    assert r.recover(seen, KERN)
    assert len(r.control.binds) == 1
    assert len(r.journal.told("driver not restored")) == 3


@pytest.mark.parametrize(
    ("seen", "pools"),
    [
        (h1(), (KERN, pool("dpdk", Drivers.of(["vfio-pci"])))),
        (h1(), (replace(pool("kern", Drivers.of(["iavf"]), Vendors.of(["15b3"])), restore_driver=True),)),
        (host(pf(driver="vfio-pci"), *(vf(i) for i in range(4))), (KERN,)),
    ],
    ids=["another pool's", "not of the pool even then", "a PF with VFs"],
)
def test_a_function_that_is_no_stray_of_the_pool_is_left_alone(seen: Host, pools: tuple[PoolSpec, ...]) -> None:
    r = Recovery()

    assert not r.recover(seen, *pools)
    assert r.control.binds == []


def test_what_the_host_uses_is_left_alone() -> None:
    r = Recovery()
    nic = function("0000:00:03.0", driver="virtio-pci", interfaces=["eth0"])

    for uses in ({"default_routes": (DefaultRoute("eth0", "IPv4"),)}, {"uppers": {"eth0": (UpperDevice("bond0"),)}}):
        assert not r.recover(host(nic, **uses), KERN)
    assert r.control.binds == []


def test_a_pf_is_never_bound_to_the_driver_of_vfs() -> None:
    """It would take a whole port from the node before its first VF is made; also a NIC without SR-IOV."""
    r = Recovery()
    wide = pool("kern", INTEL, Drivers.of(["iavf"]), restore_driver=True)

    assert not r.recover(host(pf(vfs=0)), wide)
    assert not r.recover(host(function("0000:01:00.0", driver="e1000e", interfaces=["eno1"])), wide)
    assert r.control.binds == []


def test_a_pool_of_subfunctions_never_binds_the_functions_below_them() -> None:
    """They are on the driver that they need; a VF beside them is none of the pool's."""
    r = Recovery()
    subfunctions = replace(
        pool("sf", Drivers.of(["mlx5_core"]), restore_driver=True), device_type=DeviceType.AUX_NET_DEVICE
    )
    found = AuxiliaryDevice("mlx5_core.sf.4", at("0000:3b:00.0"), "mlx5_core.sf", 4)
    seen = replace(h1(), auxiliary={found.name: found})

    assert not r.recover(seen, subfunctions)
    assert r.control.binds == []


def test_the_first_pool_that_would_have_a_stray_gets_it() -> None:
    r = Recovery()
    other = pool("other", INTEL, Drivers.of(["ixgbevf"]), restore_driver=True)

    assert r.recover(h1(), KERN, other)
    assert r.control.binds == [(ASTRAY, "iavf")]


def two_astray() -> Host:
    return host(pf(), *(vf(i, driver="vfio-pci" if i < 2 else "iavf") for i in range(4)))


def test_a_device_that_is_handed_out_while_others_are_bound_is_left_alone() -> None:
    """The pool's lists are still those of its old driver: case E12 (b)."""
    r = Recovery()
    handed_out: list[object] = []

    def bound(function: object, driver: str) -> None:
        if not handed_out:
            other = Holding(KERN.name, "0000:3b:01.1")
            handed_out.append(other)
            with r.holdings.handing_out([other]):
                pass

    r.control.bound = bound

    assert r.recover(two_astray(), KERN)

    assert r.control.binds == [("0000:3b:01.0", "iavf")]


def test_a_device_that_is_being_bound_is_handed_out_to_nobody() -> None:
    r = Recovery()
    refused: list[str] = []

    def bound(function: object, driver: str) -> None:
        with pytest.raises(DeviceUnusable) as caught, r.holdings.handing_out([Holding(KERN.name, ASTRAY)]):
            raise AssertionError
        refused.append(str(caught.value))

    r.control.bound = bound

    assert r.recover(h1(), KERN)

    assert len(refused) == 1
    assert "being bound to its pool's driver" in refused[0]
    with r.holdings.handing_out([Holding(KERN.name, ASTRAY)]):
        pass

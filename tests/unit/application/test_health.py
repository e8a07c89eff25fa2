"""What each health policy makes of a device: from the host to the lists."""

from dataclasses import replace
from typing import Any

import pytest

from domain.announcement import Holding
from domain.device import subfunction_device
from domain.health import Health, HealthPolicy, link_fault
from domain.host import AuxiliaryDevice, Host, NetInterface
from domain.pool import PoolSpec
from domain.selectors import Drivers
from tests.unit.application.test_discovery import Node, node
from tests.unit.domain.facts import at, function, host, pf, pool, vf

IDS = [f"0000:3b:01.{index}" for index in range(2)]
NO_CARRIER = "no carrier on ens1f0"
MISSING = f"{IDS[0]} cannot be used through vfio: /dev/vfio/100 is missing on the host"


def seen(carrier: bool | None = True, operstate: str | None = "up", nodes: int = 2, **of_pf: Any) -> Host:
    """A PF whose two VFs are on vfio-pci; the nodes of the first ones may be missing."""
    port = NetInterface("ens1f0", 1, carrier=carrier, operstate=operstate)
    vfs = (vf(i, driver="vfio-pci", iommu_group=str(100 + i)) for i in range(2))
    groups = [f"/dev/vfio/{100 + i}" for i in range(2 - nodes, 2)]
    return host(pf(vfs=2, **{"interfaces": [port], **of_pf}), *vfs, nodes=frozenset({"/dev/vfio/vfio", *groups}))


def dpdk(policy: HealthPolicy, down: float = 2, up: float = 5) -> PoolSpec:
    return replace(pool("dpdk", Drivers.of(["vfio-pci"])), health=Health(policy, down, up))


def faults(n: Node) -> list[str | None]:
    """What the kubelet was told of each device, in order of ids."""
    (pool_,) = n.pools
    return [entry.fault for entry in n.publisher.lists[pool_.name]]


@pytest.mark.parametrize(
    ("policy", "of_node", "of_link"),
    [
        (HealthPolicy.OFF, None, None),
        (HealthPolicy.DEVICE, MISSING, None),
        (HealthPolicy.LINK, MISSING, NO_CARRIER),
    ],
)
def test_a_policy_decides_what_counts(policy: HealthPolicy, of_node: str | None, of_link: str | None) -> None:
    """Case C05: in the first list, and so at once."""
    without_node = node(seen(nodes=1), dpdk(policy))
    without_node.reconcile()
    assert faults(without_node) == [of_node, None]

    without_link = node(seen(carrier=False), dpdk(policy))
    without_link.reconcile()
    assert faults(without_link) == [of_link, of_link]


@pytest.mark.parametrize(
    ("facts", "fault"),
    [
        ({"carrier": True, "operstate": "up"}, None),
        ({"carrier": True, "operstate": "unknown"}, None),
        ({"carrier": None, "operstate": None}, None),
        ({"carrier": False, "operstate": "up"}, NO_CARRIER),
        ({"carrier": None, "operstate": "down"}, "ens1f0 is down"),
        ({"carrier": None, "operstate": "lowerlayerdown"}, "ens1f0 is lowerlayerdown"),
        ({"interfaces": []}, None),
        ({"interfaces": [], "interfaces_away": True}, None),
    ],
)
def test_a_link_is_down_only_where_somebody_says_so(facts: dict[str, Any], fault: str | None) -> None:
    """Cases C01, C02, C04: what is in a pod or on a userspace driver cannot be asked."""
    n = node(seen(**facts), dpdk(HealthPolicy.LINK))

    n.reconcile()

    assert faults(n) == [fault, fault]


@pytest.mark.parametrize(
    ("carrier", "operstate", "fault"),
    [(None, "down", None), (False, "down", NO_CARRIER), (True, "dormant", None), (True, "up", None)],
)
@pytest.mark.parametrize("whole_port", [True, False])
def test_a_whole_port_or_a_guests_vf_that_is_not_up_yet_is_not_down(
    carrier: bool | None, operstate: str, fault: str | None, *, whole_port: bool
) -> None:
    """Cases C01, C02: no pod has it yet, so nobody has set its interface up."""
    port = NetInterface("ens1f0", 1, carrier=carrier, operstate=operstate)
    device = pf(vfs=0, interfaces=[port]) if whole_port else function("0000:00:06.0", interfaces=[port])
    n = node(host(device), replace(pool("nic"), health=Health(HealthPolicy.LINK)))

    n.reconcile()

    assert faults(n) == [fault]


def test_a_subfunction_is_down_with_its_pf() -> None:
    """Case C01: the PF's interface is not the subfunction's own."""
    sf = AuxiliaryDevice("mlx5_core.sf.4", at("0000:3b:00.0"), number=88)
    down = NetInterface("ens1f0", 1, operstate="down")
    device = subfunction_device(host(pf(vfs=0, interfaces=[down]), auxiliary={sf.name: sf}), sf.name, {})

    assert device
    assert link_fault(device) == "ens1f0 is down"


def test_a_missing_node_counts_at_once_and_a_dead_link_after_its_hold_time() -> None:
    """Cases C01, C06."""
    n = node(seen(), dpdk(HealthPolicy.LINK))
    assert n.reconcile() is None

    n.reader.host = seen(carrier=False, nodes=1)
    assert n.reconcile() == 2.0
    assert faults(n) == [MISSING, None]

    n.now = 2.0
    assert n.reconcile() is None
    assert faults(n) == [MISSING, NO_CARRIER]

    n.reader.host = seen()
    assert n.reconcile() == 5.0
    assert faults(n) == [NO_CARRIER, NO_CARRIER]

    n.now = 7.0
    n.reconcile()
    assert faults(n) == [None, None]


def test_a_dead_link_says_nothing_of_a_device_that_a_pod_holds_after_it_left_the_pool() -> None:
    """It stays with the reason for which it left."""
    n = node(seen(), dpdk(HealthPolicy.LINK))
    n.reconcile()
    n.use.held = frozenset({Holding(n.pools[0].name, IDS[0])})
    n.reader.host = host(pf(vfs=2), vf(0, driver="iavf"), vf(1, driver="iavf"))

    n.reconcile()

    (fault,) = faults(n)
    assert fault
    assert fault != NO_CARRIER


def test_one_line_tells_of_all_devices_that_became_unhealthy() -> None:
    """Case H05."""
    n = node(seen(), dpdk(HealthPolicy.LINK, down=0))
    n.reconcile()
    n.reader.host = seen(carrier=False)

    n.reconcile()
    n.reconcile()

    assert n.journal.told("devices unhealthy") == [
        {"resource": "intel.com/dpdk", "devices": 2, "first": IDS[0], "reason": NO_CARRIER}
    ]

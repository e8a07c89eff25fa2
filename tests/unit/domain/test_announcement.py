from collections.abc import Collection

from domain.announcement import GONE, Announced, Holding, Lists, announce, departed, offers
from domain.assignment import assign
from domain.host import Host
from domain.pool import PoolSpec
from domain.selectors import Drivers
from tests.unit.domain.facts import h1, host, pf, pool, vf

KERN, DPDK = pool("kern", Drivers.of(["iavf"])), pool("dpdk", Drivers.of(["vfio-pci"]))
POOLS = [KERN, DPDK]
BEFORE = {KERN.name: tuple(Announced(f"0000:3b:01.{i}") for i in range(4)), DPDK.name: ()}
REBOUND = host(
    pf(),
    vf(0),
    vf(1, driver="vfio-pci", iommu_group="102"),
    vf(2),
    vf(3),
    nodes=frozenset({"/dev/vfio/vfio", "/dev/vfio/102"}),
)


def offered(seen: Host, *pools: PoolSpec) -> Lists:
    return offers(seen, assign(seen, pools), pools)


def lists(seen: Host, previous: Lists, held: Collection[Holding] = ()) -> Lists:
    return announce(offered(seen, *POOLS), previous, held)


def test_numa_nodes_are_told_where_known_and_wanted() -> None:
    """Case G06."""
    seen = host(pf(), vf(0, numa_node=1), vf(1))

    assert [e.numa_node for e in offered(seen, KERN)[KERN.name]] == [1, None]
    quiet = pool("kern", exclude_topology=True)
    assert [e.numa_node for e in offered(seen, quiet)[KERN.name]] == [None, None]


def test_a_device_that_could_not_be_handed_out_whole_has_a_fault() -> None:
    """Case E03: it goes Unhealthy, with the reason that Allocate would give."""
    seen = host(pf(), vf(0, driver="vfio-pci", iommu_group="101"))

    (entry,) = offered(seen, DPDK)[DPDK.name]

    assert entry.fault == f"{entry.id} cannot be used through vfio: /dev/vfio/vfio is missing on the host"


def test_the_same_host_gives_the_same_lists() -> None:
    """Case B09."""
    once = lists(h1(), {})

    assert lists(h1(), once) == once
    assert departed(offered(h1(), *POOLS), once) == frozenset()


def test_a_free_device_that_was_rebound_moves_to_the_pool_that_selects_it() -> None:
    """Case B02."""
    told = lists(REBOUND, BEFORE)

    assert departed(offered(REBOUND, *POOLS), BEFORE) == {Holding(KERN.name, "0000:3b:01.1")}
    assert [e.id for e in told[KERN.name]] == ["0000:3b:01.0", "0000:3b:01.2", "0000:3b:01.3"]
    assert told[DPDK.name] == (Announced("0000:3b:01.1"),)


def test_a_held_device_stays_in_its_pool_with_a_fault_and_enters_no_other() -> None:
    """Cases B02, B10."""
    told = lists(REBOUND, BEFORE, held={Holding(KERN.name, "0000:3b:01.1")})

    assert told[KERN.name][1] == Announced("0000:3b:01.1", fault=GONE)
    assert [e.id for e in told[KERN.name]] == [f"0000:3b:01.{i}" for i in range(4)]
    assert told[DPDK.name] == ()


def test_a_device_that_comes_back_is_healthy_again() -> None:
    worse = lists(REBOUND, BEFORE, held={Holding(KERN.name, "0000:3b:01.1")})

    assert departed(offered(h1(), *POOLS), worse) == frozenset()
    assert lists(h1(), worse) == BEFORE


def test_an_id_that_two_pools_have_given_out_stays_in_both() -> None:
    """A held device never leaves its list; notes of an earlier run may have it twice."""
    id_ = "0000:3b:01.0"
    previous = {KERN.name: (Announced(id_),), DPDK.name: (Announced(id_),)}

    told = lists(h1(), previous, {Holding(KERN.name, id_), Holding(DPDK.name, id_)})

    assert [e.id for e in told[KERN.name]] == [f"0000:3b:01.{i}" for i in range(4)]
    assert [(e.id, e.fault) for e in told[DPDK.name]] == [(id_, GONE)]

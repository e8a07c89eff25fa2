from domain.announcement import GONE, Announced, Holding, announce, departed
from domain.assignment import assign
from domain.selectors import Drivers
from tests.unit.domain.facts import h1, host, pf, pool, vf

KERN, DPDK = pool("kern", Drivers.of(["iavf"])), pool("dpdk", Drivers.of(["vfio-pci"]))
POOLS = [KERN, DPDK]
BEFORE = {KERN.name: tuple(Announced(f"0000:3b:01.{i}") for i in range(4)), DPDK.name: ()}
REBOUND = host(pf(), *(vf(i, driver="vfio-pci" if i == 1 else "iavf") for i in range(4)))


def test_numa_nodes_are_told_where_known_and_wanted() -> None:
    """Case G06."""
    seen = host(pf(), vf(0, numa_node=1), vf(1))
    assigned = assign(seen, [KERN])

    assert [e.numa_node for e in announce(assigned, [KERN], {}, ())[KERN.name]] == [1, None]
    quiet = pool("kern", exclude_topology=True)
    assert [e.numa_node for e in announce(assigned, [quiet], {}, ())[KERN.name]] == [None, None]


def test_the_same_host_gives_the_same_lists() -> None:
    """Case B09."""
    assigned = assign(h1(), POOLS)

    once = announce(assigned, POOLS, {}, ())

    assert announce(assigned, POOLS, once, ()) == once
    assert departed(assigned, once) == frozenset()


def test_a_free_device_that_was_rebound_moves_to_the_pool_that_selects_it() -> None:
    """Case B02."""
    assigned = assign(REBOUND, POOLS)

    lists = announce(assigned, POOLS, BEFORE, held=())

    assert departed(assigned, BEFORE) == {Holding(KERN.name, "0000:3b:01.1")}
    assert [e.id for e in lists[KERN.name]] == ["0000:3b:01.0", "0000:3b:01.2", "0000:3b:01.3"]
    assert lists[DPDK.name] == (Announced("0000:3b:01.1"),)


def test_a_held_device_stays_in_its_pool_with_a_fault_and_enters_no_other() -> None:
    """Cases B02, B10."""
    lists = announce(assign(REBOUND, POOLS), POOLS, BEFORE, held={Holding(KERN.name, "0000:3b:01.1")})

    assert lists[KERN.name][1] == Announced("0000:3b:01.1", fault=GONE)
    assert [e.id for e in lists[KERN.name]] == [f"0000:3b:01.{i}" for i in range(4)]
    assert lists[DPDK.name] == ()


def test_a_device_that_comes_back_is_healthy_again() -> None:
    held = {Holding(KERN.name, "0000:3b:01.1")}
    worse = announce(assign(REBOUND, POOLS), POOLS, BEFORE, held)
    back = assign(h1(), POOLS)

    assert departed(back, worse) == frozenset()
    assert announce(back, POOLS, worse, ()) == BEFORE

import tracemalloc

from domain.advice import advise
from domain.assignment import assign
from domain.index_ranges import IndexRanges
from domain.pf_selectors import PfNames
from domain.pool import PoolSpec
from domain.selectors import PciAddresses, Vendors
from tests.unit.domain.facts import function, h1, host, pf, pool, vf


def texts(seen: object, *pools: PoolSpec) -> list[str]:
    return [f"{a.pool.name}: {a.text}" for a in advise(seen, pools, assign(seen, pools))]  # type: ignore[arg-type]


def test_a_pool_emptied_by_an_earlier_one_names_it() -> None:
    """Case D08."""
    (text,) = texts(h1(), pool("a", Vendors.of(["8086"])), pool("b", PfNames.of([IndexRanges.split("ens1f0")])))

    assert text.startswith("b: empty: intel.com/a ")


def test_a_vf_name_among_pf_names_is_pointed_out() -> None:
    """Case D23: pfNames with the name of a VF."""
    seen = host(pf(), vf(0, interfaces=["ens1f0v0"]))

    (text,) = texts(seen, pool("a", PfNames.of([IndexRanges.split("ens1f0v0")])))

    assert text == "a: pfNames: ens1f0v0 is the interface of VF 0000:3b:01.0, not of a PF"


def test_a_pool_that_selects_nothing_at_all_is_not_blamed_on_others() -> None:
    assert texts(h1(), pool("a", Vendors.of(["8086"])), pool("b", Vendors.of(["15b3"]))) == []


def test_many_empty_pools_on_a_large_host_take_no_memory() -> None:
    """A configuration for many nodes has pools that are empty on most: what each refuses is told on demand only."""
    seen = host(*(function(f"0000:{0x40 + n // 8:02x}:00.{n % 8}") for n in range(200)))
    empty = [pool(f"e{i}", PciAddresses.of([f"0000:99:{n:02x}.0" for n in range(32)])) for i in range(16)]
    pools = [*empty, pool("all", Vendors.of(["8086"]))]
    assignment = assign(seen, pools)
    tracemalloc.start()
    try:
        assert advise(seen, pools, assignment) == ()
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()

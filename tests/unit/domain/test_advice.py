from domain.advice import advise
from domain.assignment import explain
from domain.index_ranges import IndexRanges
from domain.pf_selectors import PfNames
from domain.pool import PoolSpec
from domain.selectors import Vendors
from tests.unit.domain.facts import h1, host, pf, pool, vf


def texts(seen: object, *pools: PoolSpec) -> list[str]:
    return [f"{a.pool.name}: {a.text}" for a in advise(seen, pools, explain(seen, pools))]  # type: ignore[arg-type]


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

from application.explain import Explain
from domain.selectors import Vendors
from tests.fakes.host_reader import FakeHostReader
from tests.unit.domain.facts import h1, pool


def test_an_explanation_has_a_trail_a_device_and_advice_a_pool() -> None:
    """Case H01."""
    explanation = Explain([pool("a", Vendors.of(["8086"])), pool("b")], FakeHostReader(h1()))()

    assert [str(t.pool) if t.pool else None for t in explanation.trails] == [None, *["intel.com/a"] * 4]
    assert [str(a.pool) for a in explanation.advice] == ["intel.com/b"]

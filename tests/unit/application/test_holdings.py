"""What counts as held."""

import asyncio
from dataclasses import dataclass, field

import pytest

from application.allocation import Allocation
from application.bounded_calls import BoundedCalls
from application.holdings import SETTLED_AFTER, Holdings
from domain.announcement import Holding
from domain.errors import SriovError
from domain.selectors import Drivers
from tests.unit.application.test_discovery import Node, node
from tests.unit.domain.facts import h1, host, pf, pool, vf

KERN = pool("kern", Drivers.of(["iavf"]))
GONE = "0000:3b:01.3"


@dataclass
class Story:
    """A pool of four VFs, and Allocate on it."""

    node: Node = field(default_factory=lambda: node(h1(), KERN))

    def __post_init__(self) -> None:
        n = self.node
        n.reconcile()
        self.allocation = Allocation(n.table, n.reader, n.store, None, n.control, n.holdings, n.journal, BoundedCalls())

    def allocate(self, *ids: str) -> None:
        asyncio.run(self.allocation.allocate(KERN.name, [list(ids)]))

    def vanish(self) -> None:
        self.node.reader.host = host(pf(vfs=3), *(vf(i) for i in range(3)))

    def listed(self) -> list[str]:
        self.node.reconcile()
        return [entry.id for entry in self.node.publisher.lists[KERN.name]]


def test_what_was_handed_out_is_held_until_the_kubelet_has_had_time_to_tell() -> None:
    s = Story()
    s.allocate(GONE)
    s.vanish()

    assert GONE in s.listed()
    s.node.now = SETTLED_AFTER + 1
    assert GONE not in s.listed()


def test_what_the_kubelet_tells_is_held_as_long_as_it_tells_it() -> None:
    s = Story()
    s.node.use.held = frozenset({Holding(KERN.name, GONE)})
    s.vanish()

    s.node.now = 10 * SETTLED_AFTER
    assert GONE in s.listed()
    s.node.use.held = frozenset()
    assert GONE not in s.listed()


def test_a_refused_allocate_leaves_no_device_held() -> None:
    """Or one that is gone would stay in its list, and a rebound one out of all, until the memory of it fades."""
    s = Story()
    s.vanish()
    with pytest.raises(SriovError):
        s.allocate("0000:3b:01.2", GONE)

    assert GONE not in s.listed()
    known = asyncio.run(s.node.holdings.known())
    assert known == frozenset()


def test_while_nobody_can_tell_anything_may_be_held() -> None:
    s = Story()
    s.node.use.held = None
    s.vanish()

    s.node.now = 10 * SETTLED_AFTER
    assert GONE in s.listed()
    assert asyncio.run(s.node.holdings.known()) is None
    assert isinstance(s.node.holdings, Holdings)


def test_a_doubtful_note_of_a_device_does_not_end_the_time_in_which_it_counts_as_handed_out() -> None:
    """An init container alone has it, which pod-resources never tells of."""
    s = Story()
    s.allocate(GONE)
    held = Holding(KERN.name, GONE)
    s.node.use.held = s.node.use.doubtful = frozenset({held})

    assert held in (asyncio.run(s.node.holdings.known()) or ())

    s.node.use.held = s.node.use.doubtful = frozenset()
    assert held in (asyncio.run(s.node.holdings.known()) or ())

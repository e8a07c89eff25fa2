from dataclasses import dataclass, field

import pytest

from application.link_holds import LinkHolds
from domain.announcement import Holding
from domain.health import Health, HealthPolicy
from domain.resource_name import ResourceName

LINK = Health(HealthPolicy.LINK, hold_down=2.0, hold_up=5.0)
DOWN = "no carrier on ens1f0"
VF = Holding(ResourceName("intel.com", "p"), "0000:3b:01.0")
OTHER = Holding(ResourceName("intel.com", "q"), "0000:3b:01.0")


@dataclass
class Links:
    """Holds under test, with a clock in the test's hands."""

    now: float = 100.0
    holds: LinkHolds = field(init=False)

    def __post_init__(self) -> None:
        self.holds = LinkHolds(lambda: self.now)

    def at(
        self, seconds: float, fault: str | None, health: Health = LINK, of: Holding = VF
    ) -> tuple[str | None, float | None]:
        """What counts so many seconds after the beginning, and when it may change by itself."""
        self.now = 100.0 + seconds
        faults, due = self.holds.settle({of: (fault, health)})
        return faults.get(of), None if due is None else round(due, 3)


@pytest.mark.parametrize("fault", [None, DOWN])
def test_the_first_judgement_counts_at_once(fault: str | None) -> None:
    """It was never announced otherwise."""
    links = Links()

    assert links.at(0, fault) == (fault, None)


Step = tuple[float, str | None, str | None, float | None]


@pytest.mark.parametrize(
    "steps",
    [
        # at, judged, counts, due
        [(0, None, None, None), (1, DOWN, None, 2.0), (2.9, DOWN, None, 0.1), (3, DOWN, DOWN, None)],
        [(0, DOWN, DOWN, None), (1, None, DOWN, 5.0), (5.9, None, DOWN, 0.1), (6, None, None, None)],
        [(0, None, None, None), (1, DOWN, None, 2.0), (60, DOWN, DOWN, None)],
        [(0, None, None, None), (1, DOWN, None, 2.0), (2, None, None, None), (3, DOWN, None, 2.0)],
        [(0, DOWN, DOWN, None), (1, None, DOWN, 5.0), (2, DOWN, DOWN, None), (3, None, DOWN, 5.0)],
        [(0, DOWN, DOWN, None), (1, "ens1f0 is down", "ens1f0 is down", None)],
        [(0, None, None, None), (1, DOWN, None, 2.0), (2, "ens1f0 is down", None, 1.0)],
    ],
    ids=[
        "down for hold_down",
        "up for hold_up",
        "looked at late",
        "up again in between",
        "down again in between",
        "another reason",
        "another reason in between",
    ],
)
def test_a_change_counts_when_it_has_lasted(steps: list[Step]) -> None:
    """Case C06."""
    links = Links()

    for at, judged, counts, due in steps:
        assert links.at(at, judged) == (counts, due), at


def test_a_link_that_flaps_without_end_never_changes_what_counts() -> None:
    """Case C06."""
    links = Links()
    links.at(0, None)

    seen = {links.at(1 + step * 0.4, DOWN if step % 2 else None)[0] for step in range(100)}

    assert seen == {None}


def test_without_hold_times_every_change_counts() -> None:
    links = Links()
    health = Health(HealthPolicy.LINK, 0, 0)

    assert [links.at(step, fault, health)[0] for step, fault in enumerate([None, DOWN, None, DOWN])] == [
        None,
        DOWN,
        None,
        DOWN,
    ]


def test_the_hold_times_of_the_present_configuration_count() -> None:
    """Case B06: edited while a change is held."""
    links = Links()
    links.at(0, None)
    links.at(1, DOWN)

    assert links.at(1.5, DOWN, Health(HealthPolicy.LINK, 60, 60)) == (None, 59.5)
    assert links.at(2, DOWN, Health(HealthPolicy.LINK, 1, 1)) == (DOWN, None)


def test_a_device_that_was_not_judged_for_a_while_begins_anew() -> None:
    """It was unplugged, or its pool did not mind the link."""
    links = Links()
    links.at(0, DOWN)
    links.holds.settle({})

    assert links.at(1, None) == (None, None)


def test_the_soonest_change_is_the_one_that_is_due() -> None:
    links = Links()
    links.holds.settle({VF: (None, LINK), OTHER: (DOWN, LINK)})

    faults, due = links.holds.settle({VF: (DOWN, LINK), OTHER: (None, LINK)})

    assert (faults, due) == ({OTHER: DOWN}, 2.0)

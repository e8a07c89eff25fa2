"""Links that come and go: a change counts only when it lasted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic

from domain.announcement import Holding
from domain.health import Health


@dataclass(slots=True)
class _Link:
    fault: str | None
    """What counts now."""
    changed: float | None = None
    """Since when it is otherwise."""


class LinkHolds:
    """Remembers each device's link from one judgement to the next."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._links: dict[Holding, _Link] = {}

    def settle(self, judged: Mapping[Holding, tuple[str | None, Health]]) -> tuple[Mapping[Holding, str], float | None]:
        """Faults that count now, and in how many seconds that may change by itself.

        A device that is judged for the first time is what it is: it was never announced otherwise.
        """
        now = self._clock()
        links: dict[Holding, _Link] = {}
        pending: list[float] = []
        for holding, (fault, health) in judged.items():
            link = links[holding] = self._links.get(holding) or _Link(fault)
            if (fault is None) is (link.fault is None):
                link.fault, link.changed = fault, None
                continue
            if link.changed is None:
                link.changed = now
            remaining = link.changed + (health.hold_up if fault is None else health.hold_down) - now
            if remaining <= 0:
                link.fault, link.changed = fault, None
            else:
                pending.append(remaining)
        self._links = links
        faults = {holding: link.fault for holding, link in links.items() if link.fault is not None}
        return faults, min(pending, default=None)

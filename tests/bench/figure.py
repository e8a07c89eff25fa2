"""One measured figure, with what it is to be compared with."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.bench.reference import REFERENCES, Reference


@dataclass(frozen=True, slots=True)
class Figure:
    """The same thing measured several times. Smaller is better, throughout."""

    section: str
    name: str
    unit: str
    values: Sequence[float]

    @property
    def best(self) -> float:
        """What the product costs when nobody else uses the machine."""
        return min(self.values)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def reference(self) -> Reference:
        return REFERENCES.get((self.section, self.name), Reference())

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        target = self.reference.target
        return None if target is None else self.best <= target

    def as_json(self) -> dict[str, Any]:
        return {
            "section": self.section,
            "name": self.name,
            "unit": self.unit,
            "min": self.best,
            "median": self.median,
            "values": list(self.values),
            "go": self.reference.go,
            "target": self.reference.target,
        }


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that so many percent of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]

"""A figure of the live benchmark beside what is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class LiveFigure:
    """Smaller is better, throughout."""

    name: str
    unit: str
    value: float
    target: float | None = None
    samples: int = 1

    @property
    def met(self) -> bool | None:
        return None if self.target is None else self.value < self.target

    def row(self) -> str:
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        target = "" if self.target is None else f"{self.target:g}"
        return f"  {self.name:52}{self.value:10.2f} {self.unit:4}{target:>8}  {verdict:8}{self.samples:5}".rstrip()

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "unit": self.unit,
            "value": self.value,
            "target": self.target,
            "met": self.met,
            "samples": self.samples,
        }


HEAD = f"{'':54}{'':10} {'':4}{'target':>8}  {'':8}{'of':>5}"


def percentiles(
    name: str, milliseconds: Sequence[float], target50: float | None, target99: float | None
) -> list[LiveFigure]:
    ordered = sorted(milliseconds)
    number = len(ordered)
    p50, p99 = (ordered[min(number - 1, int(number * part))] for part in (0.5, 0.99))
    return [
        LiveFigure(f"{name}, p50", "ms", p50, target50, number),
        LiveFigure(f"{name}, p99", "ms", p99, target99, number),
        LiveFigure(f"{name}, longest", "ms", ordered[-1], None, number),
    ]

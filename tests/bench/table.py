"""Figures as a table."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from tests.bench.figure import Figure


def lines(figures: Iterable[Figure]) -> Iterator[str]:
    """A head for each section, then one line a figure, as they come."""
    for section, members in groupby(figures, key=lambda figure: figure.section):
        yield ""
        yield _row(section, "min", "median", "Go", "target")
        yield from map(_line, members)


def _line(figure: Figure) -> str:
    name = f"  {figure.name}{f' ({figure.unit})' if figure.unit else ''}"
    target = figure.reference.target
    verdict = {True: "met", False: "MISSED", None: ""}[figure.met]
    shown = "" if target is None else f"{target:g}"
    return f"{_row(name, f'{figure.best:.3f}', f'{figure.median:.3f}', figure.reference.go, shown)}  {verdict}".rstrip()


def _row(name: str, best: str, median: str, go: str, target: str) -> str:
    return f"{name:42}{best:>9}{median:>9}{go:>8}{target:>8}"

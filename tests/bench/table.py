"""Figures as a table."""

from collections.abc import Iterable, Iterator

from tests.bench.figure import Figure

_HEAD = f"{'':36}{'min':>9}{'median':>9}{'Go':>8}{'target':>8}"


def lines(figures: Iterable[Figure]) -> Iterator[str]:
    """One line a figure, as they come."""
    section = ""
    for figure in figures:
        if figure.section != section:
            yield from (
                ("", figure.section.ljust(12) + _HEAD[12:]) if section else (figure.section.ljust(12) + _HEAD[12:],)
            )
            section = figure.section
        yield _line(figure)


def _line(figure: Figure) -> str:
    reference = figure.reference
    target = "" if reference.target is None else f"{reference.target:g}"
    verdict = {True: "  met", False: "  MISSED", None: ""}[figure.met]
    name = f"  {figure.name}{f' ({figure.unit})' if figure.unit else ''}"
    return f"{name:36}{figure.best:9.3f}{figure.median:9.3f}{reference.go:>8}{target:>8}{verdict}".rstrip()

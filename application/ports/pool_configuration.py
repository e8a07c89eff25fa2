"""The pools an operator asks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.errors import SriovError
from domain.pool import PoolSpec


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the configuration that does not work, and where."""

    where: str
    """Path of the value, as ``resourceList[0].selectors[1].vendors[0]``; empty for the whole file."""
    line: int
    column: int
    """Both count from 1; 0 where there is no place to point at."""
    message: str
    hint: str | None = None
    fatal: bool = True
    """False for what is accepted and probably not meant."""

    def __str__(self) -> str:
        place = f"{self.line}:{self.column}: " if self.line else ""
        where = f"{self.where}: " if self.where else ""
        kind = "" if self.fatal else "warning: "
        hint = f" ({self.hint})" if self.hint else ""
        return f"{place}{kind}{where}{self.message}{hint}"


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration that can be served."""

    pools: tuple[PoolSpec, ...]
    warnings: tuple[Problem, ...] = ()
    check_interval: float | None = None
    """Seconds after which health is judged again even if nothing seems to have changed."""


class ConfigurationInvalid(SriovError):
    """A configuration with problems: all of them, in the order of the file."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{source}:{'' if problem.line else ' '}{problem}" for problem in problems))


class ConfigurationMissing(ConfigurationInvalid):
    """A configuration that is not there, yet."""


class PoolConfiguration(Protocol):
    """Where the pools are written down."""

    def load(self) -> Configuration:
        """Read it.

        Raises:
            ConfigurationInvalid: with every problem at once; also if it cannot be read at all.
            ConfigurationMissing: if there is none.
        """

"""What a selector is.

A selector knows what it wants and what it finds on a device; whether it accepts, and why it refuses, follow from the
same two values. Letter case does not matter, as in the Go plugin.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from domain.device import Device


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a device is not taken: who refused it, what was wanted and what was found."""

    by: str
    wanted: str
    found: str

    def __str__(self) -> str:
        return f"{self.by}: wanted {self.wanted}, found {self.found}"


class Selector(ABC):
    """One condition on a device."""

    __slots__ = ()
    key: ClassVar[str]
    """The selector's key in the configuration file."""

    @abstractmethod
    def accepts(self, device: Device) -> bool:
        """Whether the device fulfils the condition."""

    @property
    @abstractmethod
    def wanted(self) -> str:
        """The condition, as text."""

    @abstractmethod
    def found(self, device: Device) -> str:
        """What the condition is compared with, as text."""

    def refusal(self, device: Device) -> Refusal | None:
        """None if the device is accepted."""
        return None if self.accepts(device) else Refusal(self.key, self.wanted, self.found(device))


@dataclass(frozen=True, slots=True)
class OneOf(Selector, ABC):
    """Accepts devices whose value is one of those listed."""

    values: frozenset[str]

    @classmethod
    def of(cls, values: Iterable[object]) -> Self:
        """The selector for a list of values, in any letter case."""
        return cls(frozenset(str(value).lower() for value in values))

    @staticmethod
    @abstractmethod
    def value(device: Device) -> str | None:
        """The device's value, None where it has none."""

    def accepts(self, device: Device) -> bool:
        value = self.value(device)
        return value is not None and value.lower() in self.values

    @property
    def wanted(self) -> str:
        return " or ".join(sorted(self.values)) or "nothing"

    def found(self, device: Device) -> str:
        return self.value(device) or "none"


@dataclass(frozen=True, slots=True)
class Exclude(Selector):
    """Refuses what a whole selector object would take."""

    key = "exclude"
    selectors: tuple[Selector, ...]

    def accepts(self, device: Device) -> bool:
        return not all(selector.accepts(device) for selector in self.selectors)

    @property
    def wanted(self) -> str:
        return f"not {' and '.join(f'{s.key} {s.wanted}' for s in self.selectors)}"

    def found(self, device: Device) -> str:
        return " and ".join(f"{s.key} {s.found(device)}" for s in self.selectors)

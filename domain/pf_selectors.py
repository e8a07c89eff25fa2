"""The selectors about which PF a device belongs to, and which of its VFs or subfunctions it is."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Self

from domain.device import Device
from domain.index_ranges import IndexRanges
from domain.selector import Selector

PATTERN_MARK: Final = "re:"
"""What stands before a name that is a regular expression."""


@dataclass(frozen=True, slots=True)
class OfPf(Selector, ABC):
    """Accepts the VFs and subfunctions of the PFs listed, all of them or those with certain numbers."""

    ranges: Mapping[str, tuple[IndexRanges, ...]]
    patterns: tuple[tuple[re.Pattern[str], IndexRanges], ...] = ()

    @classmethod
    def of(cls, entries: Iterable[tuple[object, IndexRanges]]) -> Self:
        """The selector for PFs and numbers; several entries for one PF add up.

        Raises:
            re.error: if a pattern cannot be read.
        """
        ranges: dict[str, tuple[IndexRanges, ...]] = {}
        patterns = []
        for pf, indices in entries:
            name = str(pf)
            if name.startswith(PATTERN_MARK):
                patterns.append((re.compile(name.removeprefix(PATTERN_MARK), re.IGNORECASE), indices))
            else:
                ranges[name.lower()] = (*ranges.get(name.lower(), ()), indices)
        return cls(ranges, tuple(patterns))

    @staticmethod
    @abstractmethod
    def names(device: Device) -> tuple[str, ...]:
        """What the PF is called here; several names where it has some."""

    def accepts(self, device: Device) -> bool:
        index = device.index
        for name in self.names(device):
            for numbers in self.ranges.get(name.lower(), ()):
                if index in numbers:
                    return True
            for pattern, numbers in self.patterns:
                if index in numbers and pattern.fullmatch(name):
                    return True
        return False

    @property
    def wanted(self) -> str:
        exact = [f"{pf}{r}" for pf, ranges in self.ranges.items() for r in ranges]
        return " or ".join((*exact, *(f"{PATTERN_MARK}{p.pattern}{r}" for p, r in self.patterns))) or "nothing"

    def found(self, device: Device) -> str:
        number = "" if device.index is None else f"#{device.index}"
        return ("/".join(self.names(device)) or "none") + number


class PfNames(OfPf):
    """Names of PFs' network interfaces, alternative names too.

    They stand for VFs and subfunctions, as in the Go plugin, and never for the PF itself.
    """

    __slots__ = ()
    key = "pfNames"

    @staticmethod
    def names(device: Device) -> tuple[str, ...]:
        port = device.pf_port
        if port is None or (device.function.physfn is None and device.subfunction is None):
            return ()
        return (port.name, *port.alternative_names)


class RootDevices(OfPf):
    """PCI addresses of PFs."""

    __slots__ = ()
    key = "rootDevices"

    @staticmethod
    def names(device: Device) -> tuple[str, ...]:
        return (str(device.function.physfn or device.function.address),)

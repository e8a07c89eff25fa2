"""PCI addresses and codes, as Documentation/ABI/testing/sysfs-bus-pci names them."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Self

from domain.errors import InvalidPciAddress

# Domains are printed with at least four digits; hosts behind Intel VMD have five and more.
_ADDRESS: Final = re.compile(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([01][0-9a-f])\.([0-7])", re.IGNORECASE)

NETWORK_CLASS: Final = 0x02


@dataclass(frozen=True, slots=True, order=True)
class PciAddress:
    """Where a PCI function sits: domain, bus, device and function, ordered as numbers."""

    domain: int
    bus: int
    device: int
    function: int

    @classmethod
    @lru_cache(maxsize=16384)
    def parse(cls, text: str) -> Self:
        """Read ``0000:3b:01.0`` or the short form ``3b:01.0`` (domain 0), in either letter case.

        Raises:
            InvalidPciAddress: for anything else.
        """
        match = _ADDRESS.fullmatch(text)
        if match is None:
            raise InvalidPciAddress(text)
        domain, bus, device, function = match.groups()
        return cls(int(domain or "0", 16), int(bus, 16), int(device, 16), int(function, 16))

    @property
    def routing_id(self) -> int:
        """Bus, device and function as one number: functions of a domain are counted by it."""
        return self.bus << 8 | self.device << 3 | self.function

    def __str__(self) -> str:
        return f"{self.domain:04x}:{self.bus:02x}:{self.device:02x}.{self.function:x}"


def base_class(class_code: int) -> int:
    """The first byte of a 24-bit class code: 0x02 is a network controller."""
    return class_code >> 16

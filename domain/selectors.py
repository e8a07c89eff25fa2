"""The selectors of a pool, one small class each.

A selector knows what it wants and what it finds on a device; whether it accepts, and why it refuses, follow from the
same two values. Letter case does not matter, as in the Go plugin.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from domain.device import Device
from domain.index_ranges import IndexRanges
from domain.pci import PciAddress


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
        return " or ".join(sorted(self.values))

    def found(self, device: Device) -> str:
        return self.value(device) or "none"


class Vendors(OneOf):
    """PCI vendor ids."""

    __slots__ = ()
    key = "vendors"

    @staticmethod
    def value(device: Device) -> str | None:
        return device.function.vendor


class Devices(OneOf):
    """PCI device ids."""

    __slots__ = ()
    key = "devices"

    @staticmethod
    def value(device: Device) -> str | None:
        return device.function.device


class Drivers(OneOf):
    """Names of the drivers that the functions are bound to."""

    __slots__ = ()
    key = "drivers"

    @staticmethod
    def value(device: Device) -> str | None:
        return device.function.driver


class PciAddresses(OneOf):
    """PCI addresses."""

    __slots__ = ()
    key = "pciAddresses"

    @staticmethod
    def value(device: Device) -> str | None:
        return device.id


class AcpiIndexes(OneOf):
    """Indices that the firmware gives to slots (sysfs attribute acpi_index)."""

    __slots__ = ()
    key = "acpiIndexes"

    @staticmethod
    def value(device: Device) -> str | None:
        return device.function.acpi_index


class LinkTypes(OneOf):
    """Link types of the PF's network interface: ether, infiniband."""

    __slots__ = ()
    key = "linkTypes"

    @staticmethod
    def value(device: Device) -> str | None:
        return device.link_type


@dataclass(frozen=True, slots=True)
class OfPf(Selector, ABC):
    """Accepts the VFs of the PFs listed, all of them or those with certain indices; or a PF itself."""

    ranges: Mapping[str, tuple[IndexRanges, ...]]

    @classmethod
    def of(cls, entries: Iterable[tuple[object, IndexRanges]]) -> Self:
        """The selector for PFs and VF indices; several entries for one PF add up."""
        ranges: dict[str, tuple[IndexRanges, ...]] = {}
        for pf, indices in entries:
            name = str(pf).lower()
            ranges[name] = (*ranges.get(name, ()), indices)
        return cls(ranges)

    @staticmethod
    @abstractmethod
    def pf(device: Device) -> str | None:
        """What the PF is called here."""

    def accepts(self, device: Device) -> bool:
        pf = self.pf(device)
        if pf is None:
            return False
        return any(device.function.vf_index in r for r in self.ranges.get(pf.lower(), ()))

    @property
    def wanted(self) -> str:
        return " or ".join(f"{pf}{r}" for pf, ranges in self.ranges.items() for r in ranges)

    def found(self, device: Device) -> str:
        index = device.function.vf_index
        return (self.pf(device) or "none") + ("" if index is None else f"#{index}")


class PfNames(OfPf):
    """Names of PFs' network interfaces; they stand for VFs only, as in the Go plugin, and never for the PF itself."""

    __slots__ = ()
    key = "pfNames"

    @staticmethod
    def pf(device: Device) -> str | None:
        return device.pf_name if device.function.physfn else None


class RootDevices(OfPf):
    """PCI addresses of PFs."""

    __slots__ = ()
    key = "rootDevices"

    @staticmethod
    def pf(device: Device) -> str | None:
        return str(device.function.physfn or device.function.address)


def pci_addresses(texts: Iterable[str]) -> PciAddresses:
    """The selector for addresses in any form.

    Raises:
        InvalidPciAddress: for the first text that is none.
    """
    return PciAddresses.of(PciAddress.parse(text) for text in texts)

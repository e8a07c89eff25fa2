"""The selectors about what a device is, one small class each."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from domain.device import Device
from domain.selector import OneOf, Selector


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
        return device.driver


class PciAddresses(OneOf):
    """PCI addresses."""

    __slots__ = ()
    key = "pciAddresses"

    @staticmethod
    def value(device: Device) -> str | None:
        return str(device.function.address) if device.subfunction else device.id


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


class NumaNodes(OneOf):
    """NUMA nodes that the functions are attached to."""

    __slots__ = ()
    key = "numaNodes"

    @staticmethod
    def value(device: Device) -> str | None:
        node = device.function.numa_node
        return None if node is None else str(node)


class AuxTypes(OneOf):
    """Kinds of auxiliary devices: sf."""

    __slots__ = ()
    key = "auxTypes"

    @staticmethod
    def value(device: Device) -> str | None:
        return device.subfunction.kind if device.subfunction else None


@dataclass(frozen=True, slots=True)
class PciClasses(Selector):
    """PCI class codes, by their first digits: 12 stands for every processing accelerator, 0b40 for co-processors."""

    key = "pciClasses"
    prefixes: tuple[str, ...]

    @classmethod
    def of(cls, prefixes: Iterable[str]) -> Self:
        """The selector for class codes in hex, with or without 0x before them."""
        return cls(tuple(prefix.lower().removeprefix("0x") for prefix in prefixes))

    def accepts(self, device: Device) -> bool:
        return f"{device.function.class_code:06x}".startswith(self.prefixes)

    @property
    def wanted(self) -> str:
        return " or ".join(self.prefixes)

    def found(self, device: Device) -> str:
        return f"{device.function.class_code:06x}"


@dataclass(frozen=True, slots=True)
class VfOnly(Selector):
    """Virtual functions, and no whole ports that have none configured."""

    key = "vfOnly"

    def accepts(self, device: Device) -> bool:
        return device.function.physfn is not None

    @property
    def wanted(self) -> str:
        return "a VF"

    def found(self, device: Device) -> str:
        return "a VF" if device.function.physfn else "a function that is no VF"

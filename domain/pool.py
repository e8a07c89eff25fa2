"""What an operator asks for: named pools of devices."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from domain.device import Device
from domain.pci import NETWORK_CLASS, base_class
from domain.resource_name import ResourceName
from domain.selectors import Refusal, Selector


class DeviceType(Enum):
    """Kinds of pools, by their value in the configuration file."""

    NET_DEVICE = "netDevice"

    def refusal(self, device: Device) -> Refusal | None:
        """Why a device is of another kind; None if it is of this one."""
        found = device.function.class_code
        if base_class(found) == NETWORK_CLASS:
            return None
        return Refusal(f"deviceType {self.value}", f"PCI class 0x{NETWORK_CLASS:02x}", f"0x{found:06x}")


@dataclass(frozen=True, slots=True)
class DeviceSelector:
    """One selector object of a pool: conditions that must all hold."""

    selectors: tuple[Selector, ...] = ()

    def accepts(self, device: Device) -> bool:
        """Whether every condition holds."""
        return all(selector.accepts(device) for selector in self.selectors)

    def refusal(self, device: Device) -> Refusal | None:
        """The first condition that does not hold."""
        return next((r for s in self.selectors if (r := s.refusal(device))), None)


@dataclass(frozen=True, slots=True)
class PoolSpec:
    """One pool: its name, the kind of devices in it, and which of them it takes."""

    name: ResourceName
    selectors: tuple[DeviceSelector, ...]
    """A device is taken by the first one that accepts it."""
    device_type: DeviceType = DeviceType.NET_DEVICE
    exclude_topology: bool = False
    """Tell the kubelet no NUMA node."""
    additional_info: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Device id, or ``*`` for all, to what a container is told besides."""

    def accepts(self, device: Device) -> bool:
        """Whether the pool takes a device that no pool before it took."""
        return self.device_type.refusal(device) is None and any(selector.accepts(device) for selector in self.selectors)

    def refusals(self, device: Device) -> tuple[Refusal, ...]:
        """Why the pool does not take a device, one reason a selector object; empty if it does."""
        if kind := self.device_type.refusal(device):
            return (kind,)
        refusals = tuple(selector.refusal(device) for selector in self.selectors)
        return tuple(r for r in refusals if r) if all(refusals) else ()

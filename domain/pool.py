"""What an operator asks for: named pools of devices."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from domain.device import Device
from domain.facility_selectors import VdpaType
from domain.health import Health
from domain.resource_name import ResourceName
from domain.selector import Exclude, Refusal, Selector


class DeviceType(Enum):
    """Kinds of pools, by their value in the configuration file."""

    NET_DEVICE = "netDevice"
    ACCELERATOR = "accelerator"
    AUX_NET_DEVICE = "auxNetDevice"

    @property
    def pci_class(self) -> str:
        """The first digits of the PCI class code of its devices, or of the functions they sit on."""
        return "12" if self is DeviceType.ACCELERATOR else "02"

    @property
    def has_device_info(self) -> bool:
        """Whether the CNI side is told of its devices."""
        return self is not DeviceType.ACCELERATOR

    def fits(self, device: Device) -> bool:
        """Whether a device is of this kind, its class aside."""
        return (self is DeviceType.AUX_NET_DEVICE) is (device.subfunction is not None)


@dataclass(frozen=True, slots=True)
class DeviceSelector:
    """One selector object of a pool: conditions that must all hold, and what its devices are used with."""

    selectors: tuple[Selector, ...] = ()
    allow_host_use: bool = False
    """Take devices that the host itself needs, too."""
    rdma: bool = False
    vdpa: VdpaType | None = None
    vhost_net: bool = False

    def accepts(self, device: Device) -> bool:
        """Whether every condition holds."""
        if device.host_use is not None and not self.allow_host_use:
            return False
        for selector in self.selectors:  # noqa: SIM110 - a generator costs twice as much, for each device and pool
            if not selector.accepts(device):
                return False
        return True

    def refusal(self, device: Device) -> Refusal | None:
        """The first condition that does not hold."""
        if device.host_use is not None and not self.allow_host_use:
            return Refusal("host use", "not needed by the host itself", device.host_use)
        return next((r for s in self.selectors if (r := s.refusal(device))), None)


@dataclass(frozen=True, slots=True)
class Member:
    """A device in a pool, with the selector object that took it."""

    device: Device
    selector: DeviceSelector


@dataclass(frozen=True, slots=True)
class PoolSpec:
    """One pool: its name, the kind of devices in it, and which of them it takes."""

    name: ResourceName
    selectors: tuple[DeviceSelector, ...]
    """A device is taken by the first one that accepts it."""
    device_type: DeviceType = DeviceType.NET_DEVICE
    exclude_topology: bool = False
    """Tell the kubelet no NUMA node."""
    health: Health = field(default_factory=Health)
    reset_on_allocate: bool = False
    """Reset the function before a container gets it."""
    restore_driver: bool = False
    """Bind devices that nobody uses back to the pool's driver."""
    iommufd: bool = False
    """Give the nodes of iommufd besides those of the IOMMU group."""
    shell_alias: bool = True
    """Tell containers their devices in a variable without ``-``, too."""
    additional_info: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Device id, or ``*`` for all, to what a container is told besides."""

    @property
    def conditions(self) -> Iterator[Selector]:
        """Every condition in it, those of exclusions too."""
        for chosen in self.selectors:
            for selector in chosen.selectors:
                yield from selector.selectors if isinstance(selector, Exclude) else (selector,)

    def take(self, device: Device) -> Member | None:
        """The device as a member of this pool, if no pool before it took it; None if this one does not either."""
        if not self.device_type.fits(device):
            return None
        for selector in self.selectors:
            if selector.accepts(device):
                return Member(device, selector)
        return None

    def refusals(self, device: Device) -> tuple[Refusal, ...]:
        """Why the pool does not take a device, one reason a selector object; empty if it does."""
        if not self.device_type.fits(device):
            found = "a subfunction" if device.subfunction else "a PCI function"
            return (Refusal("deviceType", self.device_type.value, found),)
        refusals = tuple(selector.refusal(device) for selector in self.selectors)
        return tuple(r for r in refusals if r) if all(refusals) else ()

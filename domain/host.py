"""A node as it is at one moment: facts only, no policy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from domain.pci import PciAddress

_LINK_TYPES: Final = {1: "ether", 32: "infiniband", 772: "loopback"}


@dataclass(frozen=True, slots=True)
class NetInterface:
    """A network interface in the host's network namespace (Documentation/ABI/testing/sysfs-class-net)."""

    name: str
    hardware_type: int | None = None
    """ARPHRD_* of include/uapi/linux/if_arp.h."""
    port_name: str | None = None
    switch_id: str | None = None
    dev_port: int | None = None

    @property
    def link_type(self) -> str | None:
        """``ether``, ``infiniband`` and so on, as `ip link` says after ``link/``."""
        if self.hardware_type is None:
            return None
        return _LINK_TYPES.get(self.hardware_type, f"arphrd{self.hardware_type}")


@dataclass(frozen=True, slots=True)
class PciFunction:
    """A PCI function, as /sys/bus/pci/devices/<address> shows it."""

    address: PciAddress
    class_code: int
    vendor: str
    device: str
    """Vendor and device id: four lower-case hex digits."""
    driver: str | None = None
    numa_node: int | None = None
    acpi_index: str | None = None
    iommu_group: str | None = None
    physfn: PciAddress | None = None
    """The PF, if this is a VF on a host that shows it."""
    vf_index: int | None = None
    """N of the PF's link virtfnN to this VF."""
    vf_count: int = 0
    """VFs configured on this PF."""
    interfaces: tuple[NetInterface, ...] = ()


@dataclass(frozen=True, slots=True)
class DefaultRoute:
    """A default route that carries traffic."""

    interface: str
    family: str
    """``IPv4`` or ``IPv6``."""


@dataclass(frozen=True, slots=True)
class UpperDevice:
    """A network interface stacked on another: bond, bridge, VLAN, team, Open vSwitch, macvlan."""

    name: str
    kind: str | None = None
    """DEVTYPE of its uevent, where the kernel tells: bond, bridge, vlan."""


@dataclass(frozen=True, slots=True)
class Host:
    """Everything known of a node."""

    functions: Mapping[PciAddress, PciFunction] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """Device directories that told too little, and why."""
    default_routes: tuple[DefaultRoute, ...] = ()
    uppers: Mapping[str, tuple[UpperDevice, ...]] = field(default_factory=dict)
    """Interface name to what is stacked on it."""
    port_interfaces: tuple[NetInterface, ...] = ()
    """Switch ports below no PCI function: representors of drivers that set no parent device."""
    nodes: frozenset[str] = frozenset()
    """Device nodes that exist, of those that a function's facts point to, as /dev/vfio/101."""

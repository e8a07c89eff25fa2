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
    carrier: bool | None = None
    """None while the interface is down, when the kernel does not tell."""
    operstate: str | None = None
    alternative_names: tuple[str, ...] = ()
    """Known only where somebody asked rtnetlink: sysfs has none."""

    @property
    def link_type(self) -> str | None:
        """``ether``, ``infiniband`` and so on, as `ip link` says after ``link/``."""
        if self.hardware_type is None:
            return None
        return _LINK_TYPES.get(self.hardware_type, f"arphrd{self.hardware_type}")


@dataclass(frozen=True, slots=True)
class RdmaDevice:
    """An RDMA device (Documentation/ABI/stable/sysfs-class-infiniband) and names of its nodes in /dev/infiniband."""

    name: str
    uverbs: tuple[str, ...] = ()
    umad: tuple[str, ...] = ()
    issm: tuple[str, ...] = ()
    default_pkey: str | None = None
    """The partition key at index 0 of port 1, as 0x7fff."""


@dataclass(frozen=True, slots=True)
class VdpaDevice:
    """A vDPA device (Documentation/ABI/testing/sysfs-bus-vdpa)."""

    name: str
    driver: str | None
    """Its bus driver: vhost_vdpa or virtio_vdpa; None while unbound."""
    vhost_node: str | None = None
    """vhost-vdpa-N, the name of its node in /dev."""


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
    noiommu: bool = False
    """The group is one that vfio makes up where there is no IOMMU."""
    physfn: PciAddress | None = None
    """The PF, if this is a VF on a host that shows it."""
    vf_index: int | None = None
    """N of the PF's link virtfnN to this VF."""
    vf_count: int = 0
    """VFs configured on this PF."""
    interfaces: tuple[NetInterface, ...] = ()
    interfaces_away: bool = False
    """It has a place for interfaces and none in it: they are in another network namespace."""
    rdma: tuple[RdmaDevice, ...] = ()
    vdpa: tuple[VdpaDevice, ...] = ()
    uio: str | None = None
    """uioN, the name of its node in /dev."""
    vfio_device: str | None = None
    """vfioN, the name of its node in /dev/vfio/devices; known from Linux 6.1 on."""
    auxiliary: tuple[str, ...] = ()
    """Names of the devices on the auxiliary bus below it."""
    ddp_profile: str | None = None
    """The name of the package its firmware runs; known only where somebody asked devlink."""


@dataclass(frozen=True, slots=True)
class AuxiliaryDevice:
    """A device on the auxiliary bus, such as a subfunction: ``mlx5_core.sf.4``."""

    name: str
    parent: PciAddress
    driver: str | None = None
    number: int | None = None
    """sfnum, the number its creator gave a subfunction."""
    interfaces: tuple[NetInterface, ...] = ()
    interfaces_away: bool = False
    auxiliary: tuple[str, ...] = ()
    """Names of the devices on the auxiliary bus below it."""
    rdma: tuple[RdmaDevice, ...] = ()
    vdpa: tuple[VdpaDevice, ...] = ()

    @property
    def kind(self) -> str:
        """The middle part of the name: sf, eth, rdma."""
        return self.name.split(".")[1]


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
    auxiliary: Mapping[str, AuxiliaryDevice] = field(default_factory=dict)
    """Subfunctions by name."""
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """Device directories that told too little, and why."""
    default_routes: tuple[DefaultRoute, ...] = ()
    uppers: Mapping[str, tuple[UpperDevice, ...]] = field(default_factory=dict)
    """Interface name to what is stacked on it."""
    port_interfaces: tuple[NetInterface, ...] = ()
    """Switch ports below no PCI function: representors of drivers that set no parent device."""
    nodes: frozenset[str] = frozenset()
    """Device nodes that exist, of those that a facility may need, as /dev/vfio/101."""

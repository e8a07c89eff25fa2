"""What a pool can offer: a device with everything that selectors ask about it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from domain.errors import InvalidPciAddress
from domain.host import AuxiliaryDevice, Host, NetInterface, PciFunction, RdmaDevice, VdpaDevice
from domain.pci import PciAddress
from domain.uplink import uplink

# include/linux/pci_ids.h: PCI_CLASS_NETWORK_ETHERNET, PCI_CLASS_NETWORK_INFINIBAND
_LINK_TYPES_OF_CLASSES: Final = {0x0200: "ether", 0x0207: "infiniband"}


@dataclass(frozen=True, slots=True)
class Device:
    """A PCI function or a subfunction as a candidate for pools, seen together with its PF."""

    id: str
    """What the kubelet, Multus and the CNI plugins call it: the PCI address, or the name on the auxiliary bus."""
    function: PciFunction
    """The function it is, or that it sits on."""
    subfunction: AuxiliaryDevice | None = None
    pf: PciFunction | None = None
    """The PF of a VF or SF where the host shows it, the function itself otherwise."""
    pf_port: NetInterface | None = None
    """The PF's uplink."""
    link_type: str | None = None
    host_use: str | None = None
    """Why the host itself needs it; None if it does not."""

    @property
    def index(self) -> int | None:
        """The number of a VF or subfunction on its PF."""
        return self.subfunction.number if self.subfunction else self.function.vf_index

    @property
    def driver(self) -> str | None:
        """The driver of the PCI function."""
        return self.function.driver

    @property
    def rdma(self) -> tuple[RdmaDevice, ...]:
        return self.subfunction.rdma if self.subfunction else self.function.rdma

    @property
    def vdpa(self) -> tuple[VdpaDevice, ...]:
        return self.subfunction.vdpa if self.subfunction else self.function.vdpa


def devices(host: Host, uses: Mapping[str, str]) -> Iterator[Device]:
    """Every PCI function ordered by address, then every subfunction ordered by name."""
    for address in sorted(host.functions):
        yield pci_device(host, address, uses)
    for name in sorted(host.auxiliary):
        found = subfunction_device(host, name, uses)
        if found:
            yield found


def pci_device(host: Host, address: PciAddress, uses: Mapping[str, str]) -> Device:
    """The device at an address.

    Raises:
        KeyError: if the host has no such function.
    """
    function = host.functions[address]
    pf = host.functions.get(function.physfn) if function.physfn else function
    port = uplink(pf) if pf else None
    own = function.interfaces[0] if function.interfaces else None
    id_ = str(address)
    # A VF on a userspace driver or in a pod has no interface here, its PF has: the link is the PF's.
    link_type = (port and port.link_type) or (own and own.link_type) or _link_type_away(function)
    return Device(id_, function, None, pf, port, link_type, uses.get(id_))


def _link_type_away(function: PciFunction) -> str | None:
    """The link of a whole port or a guest's VF whose interface is in a pod, by its class; None if it can have none."""
    if function.driver in {None, "vfio-pci"} or function.vfio_device or function.uio:
        return None
    return _LINK_TYPES_OF_CLASSES.get(function.class_code >> 8)


def subfunction_device(host: Host, name: str, uses: Mapping[str, str]) -> Device | None:
    """The subfunction of a name; None while the function it sits on cannot be read.

    Raises:
        KeyError: if the host has no such subfunction.
    """
    found = host.auxiliary[name]
    function = host.functions.get(found.parent)
    if function is None:
        return None
    pf = host.functions.get(function.physfn) if function.physfn else function
    port = uplink(pf) if pf else None
    own = found.interfaces[0] if found.interfaces else None
    link_type = (own and own.link_type) or (port and port.link_type) or None
    return Device(name, function, found, pf, port, link_type, uses.get(name))


def find_device(host: Host, id_: str, uses: Mapping[str, str]) -> Device | None:
    """The device of an id; None if the host has none."""
    if id_ in host.auxiliary:
        return subfunction_device(host, id_, uses)
    try:
        return pci_device(host, PciAddress.parse(id_), uses)
    except (InvalidPciAddress, KeyError):
        return None

"""What a pool can offer: a device with everything that selectors ask about it."""

from dataclasses import dataclass

from domain.host import Host, PciFunction
from domain.pci import PciAddress
from domain.uplink import uplink


@dataclass(frozen=True, slots=True)
class Device:
    """A PCI function as a candidate for pools, seen together with its PF."""

    function: PciFunction
    id: str
    """What the kubelet, Multus and the CNI plugins call it: the PCI address."""
    pf: PciFunction | None = None
    """The PF of a VF where the host shows it, the function itself otherwise."""
    pf_name: str | None = None
    link_type: str | None = None


def device(host: Host, address: PciAddress) -> Device:
    """The device at an address.

    Raises:
        KeyError: if the host has no such function.
    """
    function = host.functions[address]
    pf = host.functions.get(function.physfn) if function.physfn else function
    port = uplink(pf) if pf else None
    own = function.interfaces[0] if function.interfaces else None
    return Device(
        function=function,
        id=str(address),
        pf=pf,
        pf_name=port.name if port else None,
        # A VF on a userspace driver or in a pod has no interface here, its PF has: the link is the PF's.
        link_type=next((i.link_type for i in (port, own) if i and i.link_type), None),
    )

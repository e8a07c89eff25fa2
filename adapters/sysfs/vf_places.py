"""Where VFs belong, as their PF has it: by its links to them, and by its SR-IOV capability."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from adapters.sysfs.tree import Tree
from domain.errors import InvalidPciAddress
from domain.host import PciFunction
from domain.pci import PciAddress

DEVICES: Final = "sys/bus/pci/devices"


@dataclass(frozen=True, slots=True)
class VfPlace:
    """Where a VF belongs, as its PF has it."""

    pf: PciAddress
    index: int


@dataclass(frozen=True, slots=True)
class VfRange:
    """Which functions are VFs of a PF if they are there at all (Documentation/ABI/testing/sysfs-bus-pci, sriov_*)."""

    pf: PciAddress
    vendor: str
    device: str
    routing_ids: range

    def holds(self, function: PciFunction) -> bool:
        """Whether a function is at an address of the PF's VFs and is what they are."""
        return (
            function.address.domain == self.pf.domain
            and function.address.routing_id in self.routing_ids
            and (function.vendor, function.device) == (self.vendor, self.device)
        )


def vf_places(tree: Tree, address: PciAddress, names: Sequence[str]) -> Iterator[tuple[PciAddress, VfPlace]]:
    """The VFs that a PF links to, with the number in the link's name: numbers may be missing in between."""
    for name in names:
        index = name.removeprefix("virtfn")
        if index != name and index.isdecimal():
            vf = link_address(tree, f"{DEVICES}/{address}/{name}")
            if vf:
                yield vf, VfPlace(address, int(index))


def vf_range(tree: Tree, pf: PciFunction) -> Iterator[VfRange]:
    """Where the VFs of a PF are, or will be; nowhere if it is no PF or does not tell."""
    path = f"{DEVICES}/{pf.address}"
    total = tree.number(f"{path}/sriov_totalvfs")
    if not total or total < 0:
        return
    offset, stride = tree.number(f"{path}/sriov_offset"), tree.number(f"{path}/sriov_stride")
    device = tree.text(f"{path}/sriov_vf_device")
    if offset is None or stride is None or device is None:
        return
    first = pf.address.routing_id + offset
    # A PF that has room for one VF only may have no stride.
    routing_ids = range(first, first + total * stride, stride) if stride > 0 else range(first, first + 1)
    yield VfRange(pf.address, pf.vendor, device.lower().zfill(4), routing_ids)


def let_go(ranges: Iterable[VfRange], function: PciFunction) -> str | None:
    """Why a function without a link to a PF is not to be offered: it is a VF of one. None if it is not, as in a guest.

    The kernel removes the links between PF and VF before it takes the VF from its driver, which may take long, and
    makes them after the VF (drivers/pci/iov.c).
    """
    pf = next((range_.pf for range_ in ranges if range_.holds(function)), None)
    return not_linked(pf) if pf else None


def not_linked(pf: PciAddress) -> str:
    """What is told of a VF that has no link to its PF."""
    return f"being removed, or made: no link to its PF {pf}"


def link_address(tree: Tree, path: str) -> PciAddress | None:
    """The PCI function that a link leads to."""
    try:
        return PciAddress.parse(tree.target_name(path) or "")
    except InvalidPciAddress:
        return None

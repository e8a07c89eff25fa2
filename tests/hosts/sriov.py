"""The SR-IOV capability of a PF."""

from dataclasses import dataclass

from tests.hosts.routing import bdf_at


@dataclass(frozen=True, slots=True)
class Sriov:
    """How many VFs there can be, what they are, and where: *offset* and *stride* in routing ids."""

    totalvfs: int
    vf_device: str
    vf_driver: str | None
    offset: int
    stride: int

    def vf_at(self, pf: str, index: int) -> str:
        """The PCI address of a VF of the PF at *pf*."""
        return bdf_at(pf, self.offset + index * self.stride)

    def attributes(self) -> dict[str, str | int]:
        return {
            "sriov_totalvfs": self.totalvfs,
            "sriov_offset": self.offset,
            "sriov_stride": self.stride,
            "sriov_vf_device": self.vf_device,
            "sriov_drivers_autoprobe": 1,
        }

"""The selectors about what a device can do: RDMA, vDPA, partition keys, DDP packages."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from domain.device import Device
from domain.selector import OneOf, Selector

_RDMA_KINDS: Final = frozenset({"rdma", "roce", "iwarp"})
"""The auxiliary devices that an RDMA driver binds: mlx5_core.rdma, and irdma's ice.roce, ice.iwarp, iavf.iwarp."""


@dataclass(frozen=True, slots=True)
class IsRdma(Selector):
    """Devices with an RDMA device.

    While a pod has it, in the exclusive mode of RDMA namespaces, the host does not see it: then the device's child on
    the auxiliary bus tells, or, on kernels and drivers without one, that its interface is away and its PF does RDMA.
    """

    key = "isRdma"

    def accepts(self, device: Device) -> bool:
        return bool(device.rdma) or rdma_is_away(device)

    @property
    def wanted(self) -> str:
        return "an RDMA device"

    def found(self, device: Device) -> str:
        return ", ".join(rdma.name for rdma in device.rdma) or "none"


def rdma_is_away(device: Device) -> bool:
    """Whether a device that shows no RDMA device here has one in another namespace.

    A pod that has it has the interface, too: one that is at home means that no driver made an RDMA device.
    """
    itself = device.subfunction or device.function
    if not itself.interfaces_away:
        return False
    if any(not _RDMA_KINDS.isdisjoint(name.split(".")[1:2]) for name in itself.auxiliary):
        return True
    pf = device.pf
    if pf is None or not pf.rdma:
        return False
    return device.subfunction is not None or pf.driver == device.driver


class VdpaType(Enum):
    """Who drives a vDPA device, by the value in the configuration file."""

    VHOST = "vhost"
    VIRTIO = "virtio"

    @property
    def driver(self) -> str:
        """Its driver on the vDPA bus."""
        return f"{self.value}_vdpa"


@dataclass(frozen=True, slots=True)
class HasVdpa(Selector):
    """Devices with a vDPA device on one bus driver; each is judged alone, whatever other vDPA devices are like."""

    key = "vdpaType"
    type: VdpaType

    def accepts(self, device: Device) -> bool:
        return any(vdpa.driver == self.type.driver for vdpa in device.vdpa)

    @property
    def wanted(self) -> str:
        return f"a vDPA device on {self.type.driver}"

    def found(self, device: Device) -> str:
        return ", ".join(f"{vdpa.name} on {vdpa.driver or 'no driver'}" for vdpa in device.vdpa) or "none"


class PKeys(OneOf):
    """InfiniBand partition keys at index 0 of the RDMA device's port 1."""

    __slots__ = ()
    key = "pKeys"

    @staticmethod
    def value(device: Device) -> str | None:
        return next((rdma.default_pkey for rdma in device.rdma if rdma.default_pkey), None)


class DdpProfiles(OneOf):
    """Names of the Dynamic Device Personalization package that the PF's firmware runs (devlink's fw.app.name)."""

    __slots__ = ()
    key = "ddpProfiles"

    @staticmethod
    def value(device: Device) -> str | None:
        return device.pf.ddp_profile if device.pf else None

"""What a container needs to use the devices it got: nodes and environment.

One facility is one way to use a device (a userspace driver, a class of device nodes); each decides alone, from the
device's facts, what it adds. A facility that applies and is not whole on the host makes the grant fail.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from domain.device import Device
from domain.errors import FacilityMissing
from domain.host import Host
from domain.pool import PoolSpec

VFIO_CONTAINER_NODE: Final = "/dev/vfio/vfio"


@dataclass(frozen=True, slots=True)
class DeviceNode:
    """A device node of the host and where the container sees it."""

    host: str
    container: str
    access: str = "rw"


@dataclass(frozen=True, slots=True)
class Exposure:
    """What one facility adds for one device."""

    provider: str
    info: Mapping[str, str]
    """Told to the container in the …_INFO variable, by the provider's name."""
    nodes: tuple[DeviceNode, ...] = ()


class Facility(Protocol):
    """One way in which containers use devices."""

    def expose(self, device: Device, spec: PoolSpec) -> Exposure | None:
        """What it adds for a device; None where it has nothing to do with it.

        Raises:
            FacilityMissing: if the device needs the facility and the host lacks a fact for it.
        """


class Generic:
    """Every device's id."""

    def expose(self, device: Device, spec: PoolSpec) -> Exposure | None:
        return Exposure("generic", {"deviceID": device.id})


class Vfio:
    """Functions bound to vfio-pci: the container node and the node of the IOMMU group."""

    def expose(self, device: Device, spec: PoolSpec) -> Exposure | None:
        function = device.function
        if function.driver != "vfio-pci":
            return None
        if function.iommu_group is None:
            raise FacilityMissing(device.id, "vfio", "the iommu_group of the function")
        group = f"/dev/vfio/{function.iommu_group}"
        return Exposure(
            "vfio",
            {"mount": VFIO_CONTAINER_NODE, "dev-mount": group},
            (DeviceNode(VFIO_CONTAINER_NODE, VFIO_CONTAINER_NODE), DeviceNode(group, group)),
        )


FACILITIES: Final[tuple[Facility, ...]] = (Generic(), Vfio())


@dataclass(frozen=True, slots=True)
class Grant:
    """What one container gets."""

    environment: Mapping[str, str]
    nodes: tuple[DeviceNode, ...]


def grant(devices: Sequence[Device], spec: PoolSpec, host: Host) -> Grant:
    """Everything a container needs for its devices of one pool, or nothing at all.

    The ids are sorted as strings, as Multus sorts them, so the i-th id belongs to the i-th attachment.

    Raises:
        FacilityMissing: naming device, facility and path, if the host lacks anything.
    """
    info: dict[str, dict[str, Mapping[str, str]]] = {}
    nodes: dict[DeviceNode, None] = {}
    for device in sorted(devices, key=lambda d: d.id):
        of_device = info[device.id] = {}
        for exposure in _exposures(device, spec):
            of_device[exposure.provider] = exposure.info
            for node in exposure.nodes:
                if node.host not in host.nodes:
                    raise FacilityMissing(device.id, exposure.provider, node.host)
                nodes[node] = None
    variable = spec.name.variable
    return Grant(
        environment={
            variable: ",".join(info),
            f"{variable}_INFO": json.dumps(info, separators=(",", ":"), sort_keys=True),
        },
        nodes=tuple(nodes),
    )


def _exposures(device: Device, spec: PoolSpec) -> Iterator[Exposure]:
    for facility in FACILITIES:
        if exposure := facility.expose(device, spec):
            yield exposure

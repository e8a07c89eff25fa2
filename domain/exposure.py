"""What a container needs to use the devices it got: nodes and environment.

One facility is one way to use a device (a userspace driver, a class of device nodes); each decides alone, from the
device's facts, what it adds. A facility that applies and is not whole on the host makes the grant fail.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from domain.errors import FacilityAway, FacilityMissing
from domain.facility_selectors import VdpaType, rdma_is_away
from domain.host import Host
from domain.pool import Member, PoolSpec

VFIO_CONTAINER_NODE: Final = "/dev/vfio/vfio"
IOMMUFD_NODE: Final = "/dev/iommu"
RDMA_CM_NODE: Final = "/dev/infiniband/rdma_cm"
VHOST_NET_NODE: Final = "/dev/vhost-net"
TUN_NODE: Final = "/dev/net/tun"

_UIO_DRIVERS: Final = frozenset({"igb_uio", "uio_pci_generic"})


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

    def expose(self, member: Member, spec: PoolSpec, host: Host) -> Exposure | None:
        """What it adds for a device; None where it has nothing to do with it.

        Raises:
            FacilityMissing: if the device needs the facility and the host lacks a fact for it.
        """


class Generic:
    """Every device's id."""

    def expose(self, member: Member, spec: PoolSpec, host: Host) -> Exposure | None:
        return Exposure("generic", {"deviceID": member.device.id})


class Extra:
    """What the operator wants containers to know: for all devices, over that for one function, and for one device.

    The Go plugin knows subfunctions by the address of the function they sit on.
    """

    def expose(self, member: Member, spec: PoolSpec, host: Host) -> Exposure | None:
        if not spec.additional_info:
            return None
        keys = ("*", str(member.device.function.address), member.device.id)
        info = {name: value for key in keys for name, value in spec.additional_info.get(key, {}).items()}
        return Exposure("extra", info) if info else None


class Vfio:
    """Functions on vfio-pci or a driver made of it: the container node and the node of the IOMMU group.

    Without an IOMMU the group's node has another name on the host; programs look for it under the usual one
    (drivers/vfio/group.c).
    """

    def expose(self, member: Member, spec: PoolSpec, host: Host) -> Exposure | None:
        function = member.device.function
        if function.driver != "vfio-pci" and function.vfio_device is None:
            return None
        if function.iommu_group is None:
            raise FacilityMissing(member.device.id, "vfio", "the iommu_group of the function")
        group = f"/dev/vfio/{function.iommu_group}"
        on_host = f"/dev/vfio/noiommu-{function.iommu_group}" if function.noiommu else group
        info = {"mount": VFIO_CONTAINER_NODE, "dev-mount": group}
        nodes = [_same(VFIO_CONTAINER_NODE), DeviceNode(on_host, group)]
        if spec.iommufd:
            if function.vfio_device is None:
                raise FacilityMissing(member.device.id, "iommufd", "the vfio-dev directory of the function")
            info["iommufd-mount"] = IOMMUFD_NODE
            info["iommufd-dev-mount"] = f"/dev/vfio/devices/{function.vfio_device}"
            nodes += [_same(IOMMUFD_NODE), _same(info["iommufd-dev-mount"])]
        return Exposure("vfio", info, tuple(nodes))


class Uio:
    """Functions on a uio driver: its node."""

    def expose(self, member: Member, spec: PoolSpec, host: Host) -> Exposure | None:
        function = member.device.function
        if function.driver not in _UIO_DRIVERS or member.device.subfunction:
            return None
        if function.uio is None:
            raise FacilityMissing(member.device.id, "uio", "the uio device of the function")
        node = f"/dev/{function.uio}"
        return Exposure("uio", {"mount": node}, (_same(node),))


class Rdma:
    """RDMA devices, where the pool asks for them: verbs, management and subnet nodes, and the connection manager's.

    The connection manager serves all devices and is a module of its own: its node is given if there is one.
    """

    def expose(self, member: Member, spec: PoolSpec, host: Host) -> Exposure | None:
        if not member.selector.rdma:
            return None
        device = member.device
        kinds = {
            "uverbs": [name for rdma in device.rdma for name in rdma.uverbs],
            "umad": [name for rdma in device.rdma for name in rdma.umad],
            "issm": [name for rdma in device.rdma for name in rdma.issm],
        }
        if not device.rdma and rdma_is_away(device):
            raise FacilityAway(device.id, "rdma", "the uverbs device of the function, which a pod has,")
        if not device.rdma or not all(rdma.uverbs for rdma in device.rdma):
            raise FacilityMissing(device.id, "rdma", "the uverbs device of the function")
        info = {kind: ",".join(f"/dev/infiniband/{n}" for n in names) for kind, names in kinds.items() if names}
        info["rdma_dev"] = ",".join(rdma.name for rdma in device.rdma)
        nodes = [_same(f"/dev/infiniband/{name}") for names in kinds.values() for name in names]
        if RDMA_CM_NODE in host.nodes:
            info["rdma_cm"] = RDMA_CM_NODE
            nodes.append(_same(RDMA_CM_NODE))
        return Exposure("rdma", info, tuple(nodes))


class Vdpa:
    """vDPA devices, where the pool asks for them: the node of a vhost one; a virtio one is a network interface."""

    def expose(self, member: Member, spec: PoolSpec, host: Host) -> Exposure | None:
        wanted = member.selector.vdpa
        if wanted is None:
            return None
        vdpa = next((v for v in member.device.vdpa if v.driver == wanted.driver), None)
        if vdpa is None:
            raise FacilityMissing(member.device.id, "vdpa", f"a vDPA device on {wanted.driver}")
        if wanted is VdpaType.VIRTIO:
            return Exposure("vdpa", {})
        if vdpa.vhost_node is None:
            raise FacilityMissing(member.device.id, "vdpa", f"the vhost-vdpa node of {vdpa.name}")
        node = f"/dev/{vdpa.vhost_node}"
        return Exposure("vdpa", {"mount": node}, (_same(node),))


class VhostNet:
    """Vhost-net and tun, where the pool asks for them: both or none."""

    def expose(self, member: Member, spec: PoolSpec, host: Host) -> Exposure | None:
        if not member.selector.vhost_net:
            return None
        info = {"net-mount": VHOST_NET_NODE, "tun-mount": TUN_NODE}
        return Exposure("vhost", info, (_same(VHOST_NET_NODE), _same(TUN_NODE)))


FACILITIES: Final[tuple[Facility, ...]] = (Generic(), Vfio(), Uio(), Rdma(), Vdpa(), VhostNet(), Extra())


@dataclass(frozen=True, slots=True)
class Grant:
    """What one container gets."""

    environment: Mapping[str, str]
    nodes: tuple[DeviceNode, ...] = ()
    cdi_devices: tuple[str, ...] = ()
    """Qualified names of CDI devices, whose nodes the container runtime adds by itself."""


def exposures(member: Member, spec: PoolSpec, host: Host) -> tuple[Exposure, ...]:
    """What every facility adds for a device, all of it there on the host.

    Raises:
        FacilityMissing: naming device, facility and path, if the host lacks anything.
    """
    found = tuple(e for facility in FACILITIES if (e := facility.expose(member, spec, host)))
    for exposure in found:
        for node in exposure.nodes:
            if node.host not in host.nodes:
                raise FacilityMissing(member.device.id, exposure.provider, node.host)
    return found


def fault(member: Member, spec: PoolSpec, host: Host) -> str | None:
    """What is wrong with a device of a pool; that a pod has it is not."""
    try:
        exposures(member, spec, host)
    except FacilityAway:
        return None
    except FacilityMissing as missing:
        return str(missing)
    return None


def device_nodes(member: Member, spec: PoolSpec, host: Host) -> tuple[DeviceNode, ...]:
    """The nodes of one device, each once.

    Raises:
        FacilityMissing: if the host lacks any.
    """
    return tuple(dict.fromkeys(node for exposure in exposures(member, spec, host) for node in exposure.nodes))


def grant(members: Sequence[Member], spec: PoolSpec, host: Host) -> Grant:
    """Everything a container needs for its devices of one pool, or nothing at all.

    The ids are sorted as strings, as Multus sorts them, so the i-th id belongs to the i-th attachment.

    Raises:
        FacilityMissing: naming device, facility and path, if the host lacks anything.
    """
    info: dict[str, dict[str, Mapping[str, str]]] = {}
    nodes: dict[DeviceNode, None] = {}
    for member in sorted(members, key=lambda m: m.device.id):
        found = exposures(member, spec, host)
        info[member.device.id] = {exposure.provider: exposure.info for exposure in found}
        nodes.update(dict.fromkeys(node for exposure in found for node in exposure.nodes))
    ids = ",".join(info)
    told = json.dumps(info, separators=(",", ":"), sort_keys=True)
    return Grant(
        environment={
            name: value
            for variable in spec.name.variables[: 2 if spec.shell_alias else 1]
            for name, value in ((variable, ids), (f"{variable}_INFO", told))
        },
        nodes=tuple(nodes),
    )


def _same(path: str) -> DeviceNode:
    return DeviceNode(path, path)

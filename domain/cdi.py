"""Devices as the Container Device Interface describes them to container runtimes (specification 1.1.0).

Kinds, device names and file names are the Go plugin's: containers that it admitted can be restarted under this one.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from domain.errors import FacilityMissing
from domain.exposure import DeviceNode, Grant, device_nodes
from domain.host import Host
from domain.pool import DeviceType, Member, PoolSpec
from domain.resource_name import ResourceName

VERSION: Final = "0.5.0"
"""The oldest that has device names beginning with a digit and nodes of another name on the host: runtimes refuse a
version that is newer than their library."""
FILE_PREFIX: Final = "sriov-dp-"

_CLASSES: Final = {
    DeviceType.NET_DEVICE: "net-pci",
    DeviceType.ACCELERATOR: "acc-pci",
    DeviceType.AUX_NET_DEVICE: "net-aux",
}


Nodes = tuple[DeviceNode, ...]


@dataclass(frozen=True, slots=True)
class CdiFile:
    """The devices of one pool."""

    name: str
    kind: str
    devices: Mapping[str, Nodes] = field(default_factory=dict)
    """Each has a node at least: a device without edits is no CDI device."""

    def with_devices(self, devices: Mapping[str, Nodes]) -> "CdiFile":
        """The file with some devices described anew, ordered by name."""
        merged = {**self.devices, **devices}
        return CdiFile(self.name, self.kind, {name: merged[name] for name in sorted(merged) if merged[name]})


def cdi_vendor(prefix: str) -> str:
    """The vendor for a resource prefix, which may begin with a digit where a vendor begins with a letter."""
    return prefix if prefix[0].isalpha() else f"sriovdp-{prefix}"


def cdi_kind(spec: PoolSpec) -> str:
    """Vendor and class of a pool's devices."""
    return f"{cdi_vendor(spec.name.prefix)}/{_CLASSES[spec.device_type]}"


def cdi_name(spec: PoolSpec, device_id: str) -> str:
    """The qualified name by which the kubelet asks the runtime for a device."""
    return f"{cdi_kind(spec)}={device_id}"


def cdi_file_name(resource: ResourceName, device_type: DeviceType) -> str:
    """The name of a pool's file."""
    return f"{FILE_PREFIX}{resource.prefix}-{_CLASSES[device_type]}-{resource.name}.yaml"


def cdi_file(spec: PoolSpec, members: Iterable[Member], host: Host) -> CdiFile:
    """The file of a pool, with those members that have nodes and have all of them."""
    return CdiFile(cdi_file_name(spec.name, spec.device_type), cdi_kind(spec)).with_devices(
        cdi_devices(spec, members, host)
    )


def cdi_file_names(resource: ResourceName) -> frozenset[str]:
    """How the file of a pool may be called, whatever its type."""
    return frozenset(f"{FILE_PREFIX}{resource.prefix}-{kind}-{resource.name}.yaml" for kind in _CLASSES.values())


def cdi_devices(spec: PoolSpec, members: Iterable[Member], host: Host) -> Mapping[str, Nodes]:
    """The nodes of each member that can be handed out whole."""
    found: dict[str, Nodes] = {}
    for member in members:
        try:
            found[member.device.id] = device_nodes(member, spec, host)
        except FacilityMissing:
            continue
    return found


def described_in(files: Mapping[str, CdiFile], file: CdiFile, devices: Mapping[str, Nodes]) -> dict[str, CdiFile]:
    """A file that describes devices, and those of some others, by name, that did: no device is described twice."""
    changed = {
        name: other.with_devices(dict.fromkeys(devices.keys() & other.devices.keys(), ()))
        for name, other in files.items()
        if other.kind == file.kind and name != file.name and devices.keys() & other.devices.keys()
    }
    return {**changed, file.name: files.get(file.name, file).with_devices(devices)}


def by_names(granted: Grant, spec: PoolSpec, ids: Collection[str], described: Mapping[str, Nodes]) -> Grant:
    """A grant of devices with names of CDI devices in place of nodes, which the runtime then adds: never both."""
    names = tuple(cdi_name(spec, id_) for id_ in sorted(ids) if described.get(id_))
    return Grant(granted.environment, cdi_devices=names)


def left_behind(
    existing: Sequence[CdiFile], wanted: Sequence[CdiFile], held: frozenset[str] | None
) -> Sequence[CdiFile]:
    """What earlier files say of devices that no wanted file describes and a container may hold, one file each.

    ``held`` are ids of devices; None if nobody can tell, and so any may be. A file that becomes empty has no devices
    here. No device is described twice: runtimes drop both descriptions then.
    """
    described = {(file.kind, name) for file in wanted for name in file.devices}
    left: list[CdiFile] = []
    for file in existing:
        kept = {
            name: nodes
            for name, nodes in file.devices.items()
            if (file.kind, name) not in described and (held is None or name in held)
        }
        described.update((file.kind, name) for name in kept)
        left.append(CdiFile(file.name, file.kind, kept))
    return left

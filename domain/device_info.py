"""Device information for the CNI side: NPWG device-info specification 1.1.0."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from domain.exposure import VHOST_NET_NODE
from domain.facility_selectors import VdpaType
from domain.host import Host
from domain.pool import Member
from domain.resource_name import ResourceName
from domain.uplink import representor

_PCI_ID: Final = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_AUXILIARY_ID: Final = r"\w+\.\w+\.\d+"
_ID: Final = re.compile(rf"({_PCI_ID}|{_AUXILIARY_ID})-device\.json")
_REST: Final = re.compile(rf"[^.]+-{_ID.pattern}")
VERSION: Final = "1.1.0"


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """What Multus hands to a CNI plugin about one device of one resource."""

    resource: ResourceName
    device_id: str
    content: Mapping[str, object]
    partial: bool = False
    """Less is known than while the device was here: what is written already is better."""

    @property
    def file_name(self) -> str:
        """The name under which readers look for it; every slash becomes a dash."""
        return device_info_file_name(str(self.resource), self.device_id)


def device_info_file_name(resource: str, device_id: str) -> str:
    """The file of a device of a resource."""
    return f"{resource}-{device_id}-device.json".replace("/", "-")


def is_of(file_name: str, resource: ResourceName) -> bool:
    """Whether a file is that of a device of a pool."""
    start = f"{resource}-".replace("/", "-")
    return file_name.startswith(start) and _ID.fullmatch(file_name, len(start)) is not None


def may_be_ours(file_name: str, prefix: str) -> bool:
    """Whether a file may be that of a device of some pool with this resource prefix.

    Another plugin's prefix may begin with ours and a dash: names of pools have no dots, and prefixes have them.
    """
    return file_name.startswith(f"{prefix}-") and _REST.fullmatch(file_name, len(prefix) + 1) is not None


def device_info(host: Host, resource: ResourceName, member: Member) -> DeviceInfo:
    """What is known of a device, of the keys that the specification has."""
    device, selector = member.device, member.selector
    place = _place(host, member)
    kind = "pci"
    if selector.vdpa:
        kind = "vdpa"
        place |= _vdpa(member, selector.vdpa)
    else:
        if selector.rdma and device.rdma:
            place["rdma-device"] = ",".join(rdma.name for rdma in device.rdma)
        if selector.vhost_net:
            place["vhost-net"] = VHOST_NET_NODE
    partial = selector.rdma and not device.rdma
    return DeviceInfo(resource, device.id, {"type": kind, "version": VERSION, kind: place}, partial)


def _place(host: Host, member: Member) -> dict[str, str]:
    """Where a device sits: its PCI function, its PF and its representor."""
    device = member.device
    place = {"pci-address": str(device.function.address)}
    if device.function.physfn:
        place["pf-pci-address"] = str(device.function.physfn)
    elif device.subfunction:
        place["pf-pci-address"] = str(device.function.address)
    if device.pf and device.index is not None:
        port = representor(host, device.pf, "sf" if device.subfunction else "vf", device.index)
        if port:
            place["representor-device"] = port.name
    return place


def _vdpa(member: Member, wanted: VdpaType) -> dict[str, str]:
    vdpa = next((v for v in member.device.vdpa if v.driver == wanted.driver), None)
    if vdpa is None:
        return {}
    place = {"parent-device": vdpa.name, "driver": wanted.value}
    if vdpa.vhost_node:
        place["path"] = f"/dev/{vdpa.vhost_node}"
    return place

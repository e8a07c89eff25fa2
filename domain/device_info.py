"""Device information for the CNI side: NPWG device-info specification 1.1.0."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from domain.device import Device
from domain.host import Host
from domain.resource_name import ResourceName
from domain.uplink import representor

VERSION: Final = "1.1.0"


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """What Multus hands to a CNI plugin about one device of one resource."""

    resource: ResourceName
    device_id: str
    content: Mapping[str, object]

    @property
    def file_name(self) -> str:
        """The name under which readers look for it; every slash becomes a dash."""
        return device_info_file_name(str(self.resource), self.device_id)


def device_info_file_name(resource: str, device_id: str) -> str:
    """The file of a device of a resource."""
    return f"{resource}-{device_id}-device.json".replace("/", "-")


def device_info(host: Host, resource: ResourceName, device: Device) -> DeviceInfo:
    """What is known of a device, of the keys that the specification has."""
    function = device.function
    pci = {"pci-address": device.id}
    if function.physfn:
        pci["pf-pci-address"] = str(function.physfn)
    if device.pf and function.vf_index is not None:
        port = representor(host, device.pf, function.vf_index)
        if port:
            pci["representor-device"] = port.name
    return DeviceInfo(resource, device.id, {"type": "pci", "version": VERSION, "pci": pci})

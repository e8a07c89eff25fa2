"""A NetworkAttachmentDefinition for a pool: what an operator writes beside it, with the resource name spelled right."""

import json
import re
from typing import Any, Final

import yaml

from domain.errors import SriovError
from domain.facility_selectors import VdpaType
from domain.pool import DeviceType, PoolSpec
from domain.resource_name import ResourceName
from domain.selectors import Drivers, LinkTypes

_NOT_IN_A_NAME: Final = re.compile(r"[^a-z0-9]+")
_USERSPACE_DRIVERS: Final = frozenset({"vfio-pci", "igb_uio", "uio_pci_generic"})


def network_attachment_definition(spec: PoolSpec, namespace: str, *, as_json: bool = False) -> str:
    """The YAML or JSON text; its annotation k8s.v1.cni.cncf.io/resourceName joins network and pool.

    Raises:
        NoNetwork: for a pool whose devices are none of a network.
    """
    if spec.device_type is DeviceType.ACCELERATOR:
        raise NoNetwork(spec.name)
    name = _NOT_IN_A_NAME.sub("-", spec.name.name.lower()).strip("-")
    config: dict[str, object] = {"cniVersion": "1.0.0", "name": name, **_plugin(spec)}
    # The kernel's network stack does not see a device on a userspace driver: it gets no addresses.
    if not _values(spec, Drivers) & _USERSPACE_DRIVERS and config["type"] != "ovs":
        config["ipam"] = {"type": "host-local", "subnet": "192.0.2.0/24"}
    definition = {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {"k8s.v1.cni.cncf.io/resourceName": str(spec.name)},
        },
        "spec": {"config": json.dumps(config, indent=2)},
    }
    if as_json:
        return json.dumps(definition, indent=2) + "\n"
    return yaml.dump(definition, Dumper=_Readable, sort_keys=False)


def _plugin(spec: PoolSpec) -> dict[str, object]:
    """The CNI plugin that can attach the pool's devices, and what Multus must tell it."""
    if any(selector.vdpa is VdpaType.VHOST for selector in spec.selectors):
        return {"type": "ovs", "bridge": "br0", "capabilities": {"CNIDeviceInfoFile": True}}
    if spec.device_type is DeviceType.AUX_NET_DEVICE or any(selector.vdpa for selector in spec.selectors):
        return {"type": "host-device", "capabilities": {"deviceID": True}}
    return {"type": "ib-sriov" if "infiniband" in _values(spec, LinkTypes) else "sriov"}


def _values(spec: PoolSpec, kind: type[Drivers] | type[LinkTypes]) -> frozenset[str]:
    return frozenset().union(*(s.values for chosen in spec.selectors for s in chosen.selectors if isinstance(s, kind)))


class NoNetwork(SriovError):
    """A definition was asked for devices that are attached to no network."""

    def __init__(self, resource: ResourceName) -> None:
        super().__init__(f"{resource} is a pool of accelerators: a pod needs no network for them, only the resource")


class _Readable(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and other texts in quotes.

    Which texts need quotes depends on the version of YAML: kubectl reads 1e3 as a number and PyYAML does not.
    """

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        node = super().represent_mapping(tag, mapping, flow_style)
        for _, value in node.value:
            if isinstance(value, yaml.ScalarNode):
                value.style = "|" if "\n" in value.value else '"'
        return node

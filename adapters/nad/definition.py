"""A NetworkAttachmentDefinition for a pool: what an operator writes beside it, with the resource name spelled right."""

import json
import re
from typing import Final

import yaml

from domain.pool import PoolSpec
from domain.selectors import Drivers, LinkTypes

_NOT_IN_A_NAME: Final = re.compile(r"[^a-z0-9]+")
_USERSPACE_DRIVERS: Final = frozenset({"vfio-pci", "igb_uio", "uio_pci_generic"})


def network_attachment_definition(spec: PoolSpec, namespace: str, *, as_json: bool = False) -> str:
    """The YAML or JSON text; its annotation k8s.v1.cni.cncf.io/resourceName joins network and pool."""
    name = _NOT_IN_A_NAME.sub("-", spec.name.name.lower()).strip("-")
    config: dict[str, object] = {
        "cniVersion": "1.0.0",
        "name": name,
        "type": "ib-sriov" if "infiniband" in _values(spec, LinkTypes) else "sriov",
    }
    # The kernel's network stack does not see a device on a userspace driver: it gets no addresses.
    if not _values(spec, Drivers) & _USERSPACE_DRIVERS:
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


def _values(spec: PoolSpec, kind: type[Drivers] | type[LinkTypes]) -> frozenset[str]:
    return frozenset().union(*(s.values for chosen in spec.selectors for s in chosen.selectors if isinstance(s, kind)))


class _Readable(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Readable.add_representer(str, _represent_text)

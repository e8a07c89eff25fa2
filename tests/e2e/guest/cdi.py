"""CDI files as a container runtime takes them (container-device-interface, SPEC.md 1.1.0)."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.golden.injected import injected

_KIND = re.compile(r"[A-Za-z][A-Za-z0-9._-]*[A-Za-z0-9]/[A-Za-z][A-Za-z0-9_-]*[A-Za-z0-9]")
_DEVICE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.:-]*[A-Za-z0-9])?")


def nodes(directory: Path, names: Sequence[str]) -> list[tuple[str, str, str]]:
    """The nodes (path on the host, path in the container, permissions) that qualified names bring."""
    found = injected({"devices": [], "annotations": {}, "cdi_devices": names}, specs(directory))
    return [(host, container, permissions) for host, container, permissions in found]


def specs(directory: Path) -> dict[str, Any]:
    """All files, each of them valid; no device is in two of them."""
    found = {path.name: json.loads(path.read_text()) for path in directory.iterdir()}
    devices = [name for spec in found.values() for name in _devices(spec)]
    assert len(devices) == len(set(devices)), "runtimes drop a device that two files describe"
    return found


def _devices(spec: dict[str, Any]) -> list[str]:
    assert spec.keys() == {"cdiVersion", "kind", "devices"}
    assert spec["cdiVersion"] == "0.5.0"  # the lowest with hostPath and names that begin with a digit
    assert _KIND.fullmatch(spec["kind"])
    assert spec["devices"]
    for device in spec["devices"]:
        assert device.keys() == {"name", "containerEdits"}
        assert _DEVICE.fullmatch(device["name"])
        assert device["containerEdits"].keys() == {"deviceNodes"}
        for node in device["containerEdits"]["deviceNodes"]:
            assert node.keys() <= {"path", "hostPath", "permissions"}
            assert set(node["permissions"]) <= set("rwm")
    return [f"{spec['kind']}={device['name']}" for device in spec["devices"]]

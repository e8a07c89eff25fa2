"""The kubelet's checkpoint file, as it lies on the disk (facts/kubelet.md 4.5)."""

import json
from pathlib import Path
from typing import Any


def registered(directory: Path) -> dict[str, list[str]]:
    """Healthy devices by resource, as listed last."""
    lists: dict[str, list[str]] = _data(directory)["RegisteredDevices"]
    return {resource: sorted(ids) for resource, ids in lists.items()}


def held(directory: Path) -> dict[tuple[str, str], list[str]]:
    """Devices in the hands of containers, by pod and resource."""
    return {
        (entry["PodUID"], entry["ResourceName"]): sorted(id_ for ids in entry["DeviceIDs"].values() for id_ in ids)
        for entry in _data(directory)["PodDeviceEntries"] or ()
    }


def _data(directory: Path) -> dict[str, Any]:
    text = (directory / "device-plugins" / "kubelet_internal_checkpoint").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)["Data"]
    return data

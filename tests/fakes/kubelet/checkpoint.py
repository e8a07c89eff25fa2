"""kubelet_internal_checkpoint: dm/checkpoint/checkpoint.go and pkg/kubelet/checkpointmanager.

The real checksum is FNV-32a over a deep print of a Go value; this one is a CRC of the JSON
text, so the number differs while the file's shape does not.
"""

import base64
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as dp
from tests.fakes.kubelet.holdings import Entry, Holding, Holdings

NAME = "kubelet_internal_checkpoint"


class CheckpointCorrupt(Exception):
    """The file is there but cannot be believed."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    entries: tuple[Entry, ...]
    registered: dict[str, list[str]]


def write(directory: Path, holdings: Holdings, healthy: dict[str, set[str]]) -> None:
    data: dict[str, Any] = {
        "PodDeviceEntries": [_dump(entry) for entry in holdings] or None,
        "RegisteredDevices": {resource: sorted(ids) for resource, ids in healthy.items()},
    }
    # The store's temporary names start with a dot, so that its own listing passes them over.
    draft = directory / f".{NAME}"
    draft.write_text(json.dumps({"Data": data, "Checksum": _checksum(data)}))
    draft.rename(directory / NAME)


def read(directory: Path) -> Checkpoint | None:
    try:
        document = json.loads((directory / NAME).read_text())
        data = document["Data"]
        if document["Checksum"] != _checksum(data):
            raise CheckpointCorrupt("checkpoint is corrupted")
        entries = tuple(_load(entry) for entry in data["PodDeviceEntries"] or ())
        return Checkpoint(entries, dict(data["RegisteredDevices"]))
    except FileNotFoundError:
        return None
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointCorrupt(str(error)) from error


def _dump(entry: Entry) -> dict[str, Any]:
    return {
        "PodUID": entry.pod,
        "ContainerName": entry.container,
        "ResourceName": entry.resource,
        "DeviceIDs": {str(node): ids for node, ids in entry.holding.per_node.items()},
        "AllocResp": base64.b64encode(entry.holding.answer.SerializeToString()).decode(),
    }


def _load(entry: dict[str, Any]) -> Entry:
    per_node = {int(node): list(ids) for node, ids in entry["DeviceIDs"].items()}
    answer = dp.ContainerAllocateResponse.FromString(base64.b64decode(entry["AllocResp"]))
    holding = Holding(per_node, answer)
    return Entry(entry["PodUID"], entry["ContainerName"], entry["ResourceName"], holding)


def _checksum(data: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(data, sort_keys=True).encode())

"""What the kubelet keeps on disk of the devices it has handed out: also there while it is down.

A device is in it before its container starts, and until the first admission after its pod has ended
(pkg/kubelet/cm/devicemanager/checkpoint, manager.go).
"""

import asyncio
import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from application.ports.journal import Journal
from domain.announcement import Holding
from domain.errors import InvalidResourceName
from domain.resource_name import ResourceName


@dataclass(frozen=True, slots=True)
class Kept:
    """What one container was given of one resource."""

    pod: str
    """Its UID."""
    resource: ResourceName
    device_ids: frozenset[str]
    environment: frozenset[str]
    """The names of the variables in the plugin's answer."""

    @property
    def holdings(self) -> frozenset[Holding]:
        return frozenset(Holding(self.resource, id_) for id_ in self.device_ids)


class Checkpoint:
    """Reads kubelet_internal_checkpoint. Its checksum is of a form that only Go can make, and is not looked at."""

    def __init__(self, kubelet_directory: Path, journal: Journal) -> None:
        self._file = kubelet_directory / "device-plugins" / "kubelet_internal_checkpoint"
        self._journal = journal
        self._told = ""

    async def granted(self) -> frozenset[ResourceName]:
        """Resources whose containers were given the variable that only plugins of this kind set."""
        kept = await self.kept() or ()
        return frozenset(entry.resource for entry in kept if entry.resource.variable in entry.environment)

    async def kept(self) -> tuple[Kept, ...] | None:
        """All of it; None where there is no such file, or none that can be read."""
        try:
            text = await asyncio.to_thread(self._file.read_bytes)
            kept = _parse(text)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, DecodeError) as error:
            reason = f"{self._file}: {getattr(error, 'strerror', None) or repr(error)}"
            if self._told != reason:
                self._told = reason
                self._journal.warning("checkpoint unreadable", reason=reason)
            return None
        self._told = ""
        return kept


def _parse(text: bytes) -> tuple[Kept, ...]:
    entries: list[dict[str, Any]] = json.loads(text)["Data"]["PodDeviceEntries"] or []
    return tuple(kept for entry in entries if (kept := _kept(entry)))


def _kept(entry: dict[str, Any]) -> Kept | None:
    try:
        resource = ResourceName.parse(entry["ResourceName"])
    except InvalidResourceName:
        return None
    ids = frozenset(id_ for on_node in entry["DeviceIDs"].values() for id_ in on_node or ())
    answer = pb.ContainerAllocateResponse.FromString(base64.b64decode(entry["AllocResp"] or "", validate=True))
    return Kept(str(entry.get("PodUID", "")), resource, ids, frozenset(answer.envs))

"""The rules of the Container Device Interface 1.1.0, as its readers apply them (facts consumers.md 4).

Written from the specification alone: nothing of the plugin is used here.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

VENDOR: Final = re.compile(r"[a-z]([a-z0-9.-]*[a-z0-9])?")
CLASS: Final = re.compile(r"[A-Za-z]([A-Za-z0-9._-]*[A-Za-z0-9])?")
DEVICE: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._:-]*[A-Za-z0-9])?")
PERMISSIONS: Final = re.compile(r"[rwm]{1,3}")
VERSIONS: Final = ("0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0")

_FILE: Final = {"cdiVersion", "kind", "annotations", "devices", "containerEdits"}
_DEVICE: Final = {"name", "annotations", "containerEdits"}
_EDITS: Final = {"env", "deviceNodes", "mounts", "hooks", "additionalGids", "intelRdt", "netDevices"}
_NODE: Final = {"path", "hostPath", "type", "major", "minor", "fileMode", "permissions", "uid", "gid"}


def violations(text: str) -> list[str]:
    """What a reader would refuse a file for; and a version that is newer than need be."""
    document = json.loads(text, object_pairs_hook=_unique)
    return [*_file(document), *_version(document)]


def resolvable(directory: Path) -> Mapping[str, list[dict[str, Any]]]:
    """The devices that a runtime finds in a directory, by qualified name; AssertionError on any refusal.

    Runtimes read all files whose names end in .json or .yaml, hidden ones too, and drop a device that two describe.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for file in sorted(directory.iterdir()) if directory.is_dir() else ():
        if file.suffix in {".json", ".yaml"}:
            text = file.read_text(encoding="utf-8")
            assert violations(text) == [], file
            document = json.loads(text)
            for device in document["devices"]:
                name = f"{document['kind']}={device['name']}"
                assert name not in found, f"{name} is described twice"
                found[name] = device["containerEdits"]["deviceNodes"]
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({key for key, _ in pairs}) == len(pairs), f"a key twice: {pairs}"
    return dict(pairs)


def _file(document: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"unknown field {key}" for key in document.keys() - _FILE)
    vendor, _, class_ = document["kind"].partition("/")
    if not VENDOR.fullmatch(vendor) or len(vendor) > 253 or ".." in vendor:
        yield f"vendor {vendor}"
    if not CLASS.fullmatch(class_) or len(class_) > 63:
        yield f"class {class_}"
    names = [device["name"] for device in document["devices"]]
    if not names:
        yield "no devices"
    if len(set(names)) != len(names):
        yield "a device twice"
    if "containerEdits" in document:
        yield from _edits("file", document["containerEdits"])
    for device in document["devices"]:
        yield from (f"unknown field {key}" for key in device.keys() - _DEVICE)
        if not DEVICE.fullmatch(device["name"]):
            yield f"device name {device['name']}"
        yield from _edits(device["name"], device["containerEdits"])


def _edits(where: str, edits: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{where}: unknown field {key}" for key in edits.keys() - _EDITS)
    if not any(edits.values()):
        yield f"{where}: no edits"
    paths = [node["path"] for node in edits.get("deviceNodes", ())]
    if len(set(paths)) != len(paths):
        yield f"{where}: a path twice"
    for node in edits.get("deviceNodes", ()):
        yield from (f"{where}: unknown field {key}" for key in node.keys() - _NODE)
        if not all(node[key].startswith("/dev/") and ".." not in node[key] for key in ("path", "hostPath")):
            yield f"{where}: path {node}"
        if node.get("type", "c") not in set("bcup"):
            yield f"{where}: type {node}"
        if not PERMISSIONS.fullmatch(node.get("permissions", "rwm")):
            yield f"{where}: permissions {node}"


def _version(document: Mapping[str, Any]) -> Iterator[str]:
    """The rule for writers: the oldest version that has everything in the file."""
    edits = [document.get("containerEdits", {}), *(device["containerEdits"] for device in document["devices"])]
    needed = "0.3.0"
    if any("hostPath" in node for e in edits for node in e.get("deviceNodes", ())):
        needed = "0.5.0"
    if any(device["name"][0].isdigit() for device in document["devices"]):
        needed = "0.5.0"
    if "annotations" in document or "." in document["kind"].partition("/")[2]:
        needed = "0.6.0"
    if any("netDevices" in e for e in edits):
        needed = "1.1.0"
    written = document["cdiVersion"]
    if written not in VERSIONS or written != needed:
        yield f"version {written}, needed {needed}"

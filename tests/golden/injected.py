"""The device nodes that reach a container: those of the response and those that CDI names bring."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

_KEY: Final = "cdi.k8s.io/"


def injected(response: Mapping[str, Any], specs: Mapping[str, Any]) -> list[list[str]]:
    """Nodes as [host path, container path, permissions]; one that comes twice is there twice.

    *specs* are the CDI files, parsed. A CDI device named twice is injected once, as runtimes do.
    """
    nodes = [list(node) for node in response["devices"]]
    for name in dict.fromkeys(_names(response)):
        nodes += [n for n in _nodes(name, specs) if n not in nodes or n in response["devices"]]
    return nodes


def _names(response: Mapping[str, Any]) -> Iterator[str]:
    for key, value in response["annotations"].items():
        if key.startswith(_KEY):
            yield from value.split(",")
    yield from response["cdi_devices"]


def _nodes(name: str, specs: Mapping[str, Any]) -> Iterator[list[str]]:
    kind, _, device = name.partition("=")
    found = [
        edits
        for spec in specs.values()
        if spec["kind"] == kind
        for entry in spec["devices"]
        if entry["name"] == device
        for edits in (spec.get("containerEdits", {}), entry["containerEdits"])
    ]
    if not found:
        raise LookupError(f"unresolvable CDI device {name}")
    for edits in found:
        for node in edits.get("deviceNodes", ()):
            yield [node.get("hostPath", node["path"]), node["path"], node.get("permissions", "rwm")]

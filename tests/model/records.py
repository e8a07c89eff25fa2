"""Device-info files, compared with what pools offer and pods hold."""

import json
from collections.abc import Collection, Iterator
from typing import Any

from tests.model.expectation import Hold, Lists, expected
from tests.model.node import Node


def record_faults(node: Node, lists: Lists, held: Collection[Hold], lingering: Collection[Hold]) -> Iterator[str]:
    """Every device that is offered or held has its file, and there are no others below our prefixes."""
    if node.served is None:
        return  # it knows of no prefix
    names = set(node.places.records())
    offered = {(r, id_) for r, devices in expected(node.host, node.served, ()).items() for id_ in devices}
    listed = {(r, id_) for r, devices in lists.items() for id_ in devices}
    present = {hold for hold in offered | listed | set(held) if _name(hold) in names}
    node.lost_records -= present
    wanted = (listed & offered) | (set(held) - node.lost_records)
    allowed = {_name(hold) for hold in listed | set(held) | set(lingering)}
    for hold in sorted(wanted - present):
        yield f"no device information of {hold}"
    for name in sorted(names - allowed):
        if name.partition("-")[0] not in node.strange_prefixes:
            yield f"device information that nobody needs: {name}"
    for hold in sorted(present & offered & listed):
        content = json.loads((node.places.devinfo / _name(hold)).read_text())
        if content != _content(node, hold[1]):
            yield f"wrong device information of {hold}: {content}"


def _name(hold: Hold) -> str:
    resource, id_ = hold
    return f"{resource.replace('/', '-')}-{id_}-device.json"


def _content(node: Node, id_: str) -> dict[str, Any]:
    pf = node.host.function(id_).physfn
    place = {"pci-address": id_} | ({"pf-pci-address": pf.bdf} if pf else {})
    return {"type": "pci", "version": "1.1.0", "pci": place}

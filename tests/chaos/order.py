"""What must be true once a node has come to rest, as the kubelet, its pod-resources and the sockets tell."""

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import grpc

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub
from tests.chaos.node import Node
from tests.chaos.pods import Pods
from tests.fakes.kubelet.reports import Counts
from tests.model.expectation import Hold, Listed, Lists, expected

_RECENT: Final = 36.0
"""Seconds for which a device that was handed out counts as held, and some for the next look."""
_WITHIN: Final = 5.0
Shown = Mapping[str, list[pb.Device]]


async def disorder(node: Node, pods: Pods) -> list[str]:
    """What is not as it must be."""
    if not node.daemon.running:
        return ["the daemon does not run"]
    if not node.has_looked:
        return ["the daemon has not looked at the host yet"]
    counts = (await node.kubelet.capacity()).device_manager
    holders = await node.held()
    lingering = _lingering(node) - holders.keys()
    lists = expected(node.host, node.served, holders.keys())
    later = expected(node.host, node.served, holders.keys() | lingering)
    faults = [
        *_holder_faults(holders, pods),
        *_count_faults(node, counts, lists, later),
        *_socket_faults(node, lists.keys() | later.keys()),
        *_file_faults(node, lists, later, holders.keys()),
    ]
    if faults:
        # The daemon takes any listener for a kubelet: a look at its lists now would hide a stream that was lost.
        return faults
    try:
        shown = await _shown(node, lists.keys() | later.keys())
    except grpc.aio.AioRpcError as error:
        return [f"a pool does not answer: {error.code().name} {error.details()}"]
    return [*_list_faults(shown, lists, later), *_place_faults(shown, holders)]


def _lingering(node: Node) -> set[Hold]:
    """Devices that this daemon has handed out so lately that it may not trust that they were given back."""
    now = datetime.now(UTC)
    found: set[Hold] = set()
    for event in node.daemon.told("allocated"):
        age = now - datetime.fromisoformat(event["timestamp"])
        if age.total_seconds() < _RECENT:
            found.update((event["resource"], id_) for id_ in event["devices"])
    return found


async def _shown(node: Node, servable: Collection[str]) -> dict[str, list[pb.Device]]:
    """The list at each socket of a pool that may be there."""
    shown = {}
    debris = {socket for socket, inode in node.debris if (socket, inode) in node.sockets()}
    for socket in node.places.pool_sockets():
        stem = socket.name.removesuffix(".sock").partition("-")[0]
        resource = stem.replace("_", "/", 1)
        if socket in debris or resource not in servable:
            continue
        options = (("grpc.use_local_subchannel_pool", 1),)
        async with grpc.aio.insecure_channel(f"unix:{socket}", options=options) as channel:
            stream = DevicePluginStub(channel).ListAndWatch(pb.Empty(), timeout=_WITHIN)
            message = await anext(aiter(stream))
            stream.cancel()
        shown[resource] = list(message.devices)
    return shown


def _holder_faults(holders: Mapping[Hold, list[str]], pods: Pods) -> Iterator[str]:
    by_id: dict[str, set[str]] = {}
    for (_, id_), names in holders.items():
        by_id.setdefault(id_, set()).update(names)
    for id_, owners in by_id.items():
        if len(owners) > 1:
            yield f"{id_} is held by {sorted(owners)}"
        if strangers := owners - pods.active.keys():
            yield f"{id_} is held by {sorted(strangers)}, who ended"


def _place_faults(shown: Shown, holders: Collection[Hold]) -> Iterator[str]:
    places: dict[str, list[str]] = {}
    for resource, devices in shown.items():
        for device in devices:
            places.setdefault(device.ID, []).append(resource)
    yield from (f"{id_} is in the lists of {resources}" for id_, resources in places.items() if len(resources) > 1)
    for resource, id_ in holders:
        if resource in shown and resource not in places.get(id_, []):
            yield f"{id_} is held as {resource} and in the lists {places.get(id_)}"


def _list_faults(shown: Shown, lists: Lists, later: Lists) -> Iterator[str]:
    for resource in sorted(shown.keys() | lists.keys()):
        devices = shown.get(resource)
        if devices is None:
            if lists[resource]:
                yield f"{resource} has no socket"
            continue
        ids = [device.ID for device in devices]
        if ids != sorted(set(ids)):
            yield f"{resource}: not sorted, or an id twice: {ids}"
        have = {d.ID: Listed(d.health == "Healthy", tuple(n.ID for n in d.topology.nodes)) for d in devices}
        for id_ in sorted({*have, *lists.get(resource, {}), *later.get(resource, {})}):
            allowed = [way.get(resource, {}).get(id_) for way in (lists, later)]
            if not any(_fits(have.get(id_), wanted) for wanted in allowed):
                yield f"{resource}: {id_} is {have.get(id_)}, not {allowed[0]}"


def _fits(shown: Listed | None, wanted: Listed | None) -> bool:
    if shown is None or wanted is None:
        return shown is wanted
    return shown.healthy is wanted.healthy and wanted.nodes in {None, shown.nodes}


def _count_faults(node: Node, counts: Counts, lists: Lists, later: Lists) -> Iterator[str]:
    """The kubelet counts what the lists must be, and nothing healthy of what has none."""
    for resource in sorted(node.resources):
        ways = [way.get(resource, {}) for way in (lists, later)]
        healthy = [sum(entry.healthy for entry in way.values()) for way in ways]
        sizes = [len(way) for way in ways]
        allocatable, capacity = counts.allocatable.get(resource, 0), counts.capacity.get(resource, 0)
        # Devices that a pool had and that went with its server are counted for five minutes, as unhealthy.
        gone = not any(sizes)
        if not min(healthy) <= allocatable <= max(healthy) or not (gone or min(sizes) <= capacity <= max(sizes)):
            yield f"{resource}: the kubelet counts {capacity}, {allocatable}; the list must have {sizes}, {healthy}"


def _socket_faults(node: Node, servable: Collection[str]) -> Iterator[str]:
    names = [socket.name for socket, _ in node.sockets() - node.debris]
    for resource in servable:
        own = [name for name in names if name.removesuffix(".sock").partition("-")[0] == resource.replace("/", "_")]
        names = [name for name in names if name not in own]
        if len(own) > 1:
            yield f"{resource}: sockets {own}"
    if names:
        yield f"sockets of nothing: {names}"


def _file_faults(node: Node, lists: Lists, later: Lists, held: Collection[Hold]) -> Iterator[str]:
    """Every device that is offered has its device information, and there is no other below our prefixes."""
    prefixes = {pool.resource.partition("/")[0] for pool in node.served}
    offered = {(r, id_) for r, devices in expected(node.host, node.served, ()).items() for id_ in devices}
    listed, allowed = ({(r, id_) for r, devices in way.items() for id_ in devices} for way in (lists, later))
    names = {name for name in node.places.records() if name.partition("-")[0] in prefixes}
    allowed_names = {_name(hold) for hold in allowed | listed | set(held) | _lingering(node)}
    yield from (f"device information that nobody needs: {name}" for name in sorted(names - allowed_names))
    for hold in sorted(listed & allowed & offered):
        if _name(hold) not in names:
            yield f"no device information of {hold}"
        elif (content := _content(node, hold)) != _right(node, hold[1]):
            yield f"wrong device information of {hold}: {content}"


def _name(hold: Hold) -> str:
    return f"{hold[0].replace('/', '-')}-{hold[1]}-device.json"


def _content(node: Node, hold: Hold) -> Any:
    try:
        return json.loads((node.places.devinfo / _name(hold)).read_text(encoding="utf-8"))
    except ValueError as error:
        return str(error)


def _right(node: Node, id_: str) -> Any:
    pf = node.host.function(id_).physfn
    place = {"pci-address": id_} | ({"pf-pci-address": pf.bdf} if pf else {})
    return {"type": "pci", "version": "1.1.0", "pci": place}

"""Waiting until everything is as it must be in the end."""

import asyncio
import gc
from collections.abc import Collection, Iterator
from time import monotonic
from typing import Final

from tests.model.expectation import Hold, Listed, Lists
from tests.model.node import Node
from tests.model.records import record_faults

_LOOK_EVERY: Final = 0.004
_NOT_YET: Final = 0.02


async def settle(node: Node) -> None:
    """Return when kubelet, sockets and files are in line with host, configuration and pods.

    With the daemon or the kubelet away there is nothing to be seen: then only a moment passes.

    Raises:
        Broken: if they are not within the daemon's patience.
    """
    if not node.daemon.running or node.restarting:
        await asyncio.sleep(_NOT_YET)
        return
    began = monotonic()
    while faults := list(differences(node)) or growth(node):
        node.check()
        if monotonic() - began > node.daemon.patience:
            node.fail(*faults)
        node.daemon.age()
        await asyncio.sleep(_LOOK_EVERY)
    node.check()
    node.settled = True


async def settle_in_the_end(node: Node) -> None:
    """The same with everything up again and every container restarted."""
    await node.restarted()
    await settle(node)
    for uid in sorted(node.kubelet._pods.active_uids()):
        started = await node.kubelet.start(uid, "c0")
        if started.error:
            node.fail(f"the container of {uid} cannot be restarted: {started.error}")
    node.check()


def differences(node: Node) -> Iterator[str]:
    """What is not as it must be."""
    held = node.witness.held()
    lingering = _lingering(node, held)
    lists, later = node.expected(), node.expected(*lingering)
    known = {message.resource for message in node.kubelet._journal.messages}
    for resource in sorted(known | lists.keys() | later.keys()):
        yield from _list_faults(node, resource, lists, later)
    yield from _socket_faults(node, lists.keys() | later.keys())
    yield from record_faults(node, lists, held, lingering)


def growth(node: Node) -> list[str]:
    """What the daemon has more of than it had before with as many streams."""
    known = {message.resource for message in node.kubelet._journal.messages}
    streams = sum(map(node.kubelet.is_registered, known))
    # Without a stream nobody knows how far a start has come.
    faults = list(node.growth.faults(streams, node.daemon.census())) if streams else []
    if faults:
        gc.collect()  # channels that failed end with the traceback of their failure
    return faults


def _lingering(node: Node, held: Collection[Hold]) -> set[Hold]:
    """Devices that nobody has any more, handed out so lately that the daemon may not trust that yet."""
    oldest = monotonic() - node.daemon.lingering
    return {hold for hold, at in node.witness.handed_out.items() if at > oldest and hold not in held}


def _list_faults(node: Node, resource: str, lists: Lists, later: Lists) -> Iterator[str]:
    """*lists* is what must be known, *later* the same with what lingers; any mixture will do."""
    registered = node.kubelet.is_registered(resource)
    ways = [way[resource] for way in (lists, later) if resource in way]
    if not registered:
        if lists.get(resource):
            yield f"{resource} is not registered"
        elif (counts := node.kubelet.counts(resource)) and counts[1]:
            yield f"{resource} is not served, and the kubelet counts {counts}"
        return
    if not ways:
        yield f"{resource} is registered, and no pool or pod has anything of it"
        return
    message = node.kubelet.messages(resource)[-1]
    shown = {d.ID: Listed(d.health == "Healthy", tuple(n.ID for n in d.topology.nodes)) for d in message.devices}
    for id_ in sorted({*shown, *(i for way in ways for i in way)}):
        allowed = [way.get(resource, {}).get(id_) for way in (lists, later)]
        if not any(_fits(shown.get(id_), wanted) for wanted in allowed):
            yield f"{resource}: {id_} is {shown.get(id_)}, not {allowed[0]}"


def _fits(shown: Listed | None, wanted: Listed | None) -> bool:
    if shown is None or wanted is None:
        return shown is wanted
    return shown.healthy is wanted.healthy and wanted.nodes in {None, shown.nodes}


def _socket_faults(node: Node, servable: Collection[str]) -> Iterator[str]:
    """Exactly one socket a resource that is registered, none of a resource that is not served."""
    sockets = [socket.name for socket, _ in node.sockets() - node.debris]
    for resource in servable:
        stem = resource.replace("/", "_")
        own = [name for name in sockets if name.removesuffix(".sock").partition("-")[0] == stem]
        sockets = [name for name in sockets if name not in own]
        if len(own) != node.kubelet.is_registered(resource):
            yield f"{resource}: sockets {own}"
    if sockets:
        yield f"sockets of nothing: {sockets}"

"""Pods that come, restart and go."""

import asyncio
from collections.abc import Mapping
from typing import Final

from tests.fakes.kubelet import Admission, ContainerStart, KubeletPanic
from tests.hosts.function import Function
from tests.model.actions.action import Action, AnyAction
from tests.model.expectation import vf_count
from tests.model.node import Node
from tests.model.settling import settle

_MOST_DEVICES: Final = 3
_SECOND_THOUGHT: Final = 0.1


def _requests(node: Node) -> list[tuple[str, int]]:
    """Also of resources that the kubelet does not know yet, and of more devices than there are."""
    return [(pool.resource, n) for pool in node.served or () for n in range(1, _MOST_DEVICES + 1)]


async def _admit(node: Node, request: tuple[str, int]) -> None:
    resource, number = request
    node.pods += 1
    uid = f"pod-{node.pods}"
    held = node.witness.held()
    free = _free(node, resource)
    must = node.was_settled and number <= free and node.daemon.running and not node.setup.aligned
    try:
        verdict = await _ask(node, uid, request)
        if must and not verdict.admitted:
            # On a slow machine the kubelet may have been about to take up a socket that was made anew.
            await asyncio.sleep(_SECOND_THOUGHT)
            await settle(node)
            verdict = await _ask(node, uid, request)
    except KubeletPanic:
        return  # told by the check that follows
    if not verdict.admitted:
        if must:
            node.fail(f"{uid} was refused with {free} devices of {resource} free: {verdict.message}")
        return
    started = verdict.containers["c0"]
    got = sorted(node.witness.held() - held)
    node.tell(f"  {uid} holds {got}")
    if not got:
        await node.kubelet.terminate(uid)  # a resource that is not known yet: the scheduler would have held it back
    else:
        _check_grant(node, resource, [device for _, device in got], started)


async def _ask(node: Node, uid: str, request: tuple[str, int]) -> Admission:
    await node.kubelet.capacity()  # the Node as the scheduler would see it in the end
    verdict = await node.kubelet.admit(uid, dict([request]))
    if not verdict.admitted:
        node.tell(f"  {uid} refused: {verdict.message}")
    return verdict


def _free(node: Node, resource: str) -> int:
    """Devices that a pod must be able to get."""
    held = node.witness.held()
    listed = node.expected().get(resource, {})
    return sum(entry.healthy and (resource, device) not in held for device, entry in listed.items())


def _check_grant(node: Node, resource: str, ids: list[str], started: ContainerStart) -> None:
    """The devices are there, nobody else has them, and the container is told of them."""
    faults = []
    for id_ in ids:
        function = node.host.description.functions.get(id_)
        if function is None or function.driver is None or vf_count(node.host, function):
            faults.append(f"{id_} was handed out and is gone from the host, has no driver or has VFs")
        elif missing := [n for n in _needed_nodes(function) if n not in _nodes(started.devices)]:
            faults.append(f"{id_} was handed out without {missing}")
        if others := [r for r, device in node.witness.held() if device == id_ and r != resource]:
            faults.append(f"{id_} was handed out as {resource} and is held as {others}")
    variable = "PCIDEVICE_" + "".join(c if c.isalnum() else "_" for c in resource).upper()
    if started.env.get(variable) != ",".join(ids):
        faults.append(f"{variable}={started.env.get(variable)}, and the kubelet asked for {ids}")
    faults += [f"{n} is no node of the host" for n in _nodes(started.devices) if not node.host.tree.exists(n[1:])]
    if faults:
        node.fail(*faults)


def _needed_nodes(function: Function) -> list[str]:
    if function.driver != "vfio-pci" or function.iommu is None:
        return []
    return ["/dev/vfio/vfio", f"/{function.iommu.node}"]


def _nodes(devices: tuple[Mapping[str, str], ...]) -> list[str]:
    return [device["host"] for device in devices]


def _active(node: Node) -> list[str]:
    return sorted(node.kubelet._pods.active_uids())


async def _end(node: Node, uid: str) -> None:
    await node.kubelet.terminate(uid)


async def _restart(node: Node, uid: str) -> None:
    started = await node.kubelet.start(uid, "c0")
    if started.error:
        node.fail(f"the container of {uid} cannot be restarted: {started.error}")


ADMIT_POD: Final = Action("admit a pod", _requests, _admit, 8, needs_kubelet=True)
END_POD: Final = Action("end a pod", _active, _end, 4, steady=False)
RESTART_CONTAINER: Final = Action("restart a container", _active, _restart, steady=False, needs_kubelet=True)

ACTIONS: Final[tuple[AnyAction, ...]] = (ADMIT_POD, END_POD, RESTART_CONTAINER)

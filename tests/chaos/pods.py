"""Pods that come and go all the time, whatever else happens."""

import asyncio
import random
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from tests.chaos.node import Node
from tests.fakes.kubelet import ContainerStart
from tests.model.pools import NAMES

_MOST_DEVICES: Final = 2
_MOST_PODS: Final = 4
_PAUSE: Final = 0.3
_REGISTERING_AGAIN: Final = "the client connection is closing"
"""The kubelet has closed its own connection: it had dialled the socket of a killed daemon when the new one came, which
answered, and takes the pool out for a moment to register it again (pluginmanager/reconciler)."""


class Pods:
    def __init__(self, node: Node, chance: random.Random, tally: Counter[str]) -> None:
        self._node = node
        self._chance = chance
        self._tally = tally
        self._number = 0
        self.active: dict[str, ContainerStart] = {}
        """What each pod got when it was admitted."""

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(self._chance.uniform(0, _PAUSE))
            await self._node.guarded(self.step)

    async def step(self) -> None:
        async with self._node.locks.kubelet:
            full = len(self.active) >= _MOST_PODS
            if self.active and self._chance.random() < (0.7 if full else 0.3):
                await self.end(self._chance.choice(sorted(self.active)))
            else:
                await self.admit(self._chance.choice(NAMES), self._chance.randint(1, _MOST_DEVICES))

    async def admit(self, resource: str, number: int) -> str:
        """Why a pod was refused; empty if it has what it asked for. A resource that is not offered is not asked for."""
        node = self._node
        offered = (await node.kubelet.capacity()).device_manager.allocatable.get(resource, 0)
        if offered < number:
            return "not offered"
        self._number += 1
        uid = f"pod-{self._number}"
        verdict = await node.kubelet.admit(uid, {resource: number})
        self._tally["pods admitted" if verdict.admitted else "pods refused"] += 1
        if not verdict.admitted:
            node.tell(f"{uid} of {number} {resource} refused: {verdict.message}")
            return verdict.message
        ids = held_by(await node.kubelet.devices(uid), resource)
        node.tell(f"{uid} holds {ids} of {resource}")
        started = verdict.containers["c0"]
        if len(ids) != number or told(started, resource) != ids:
            node.fail(f"{uid} asked for {number} {resource}, holds {ids} and is told {started}")
        self.active[uid] = started
        return ""

    async def must_admit(self) -> list[str]:
        """With everything in order a pod gets any device that is free; else why the kubelet itself was not in order."""
        node = self._node
        held = await node.held()
        allocatable = (await node.kubelet.capacity()).device_manager.allocatable
        free = {r: n - sum(hold[0] == r for hold in held) for r, n in allocatable.items()}
        candidates = sorted(resource for resource, number in free.items() if number > 0)
        if candidates:
            resource = self._chance.choice(candidates)
            if refusal := await self.admit(resource, 1):
                if _REGISTERING_AGAIN in refusal:
                    self._tally["refused while registering again"] += 1
                    return [refusal]
                node.fail(f"{resource} has {free[resource]} free devices of {allocatable[resource]}, and: {refusal}")
            await self.end(f"pod-{self._number}")
        return []

    async def end(self, uid: str) -> None:
        self._node.tell(f"{uid} ends")
        await self._node.kubelet.terminate(uid)
        del self.active[uid]

    async def restarted(self, *, containers_gone: bool, down: float, settle: float) -> None:
        """Restart the kubelet; pods that it admits no more are over."""
        node = self._node
        verdicts = await node.kubelet.restart(down_s=down, settle_s=settle, containers_gone=containers_gone)
        refused = {uid: verdict.message for uid, verdict in verdicts.items() if not verdict.admitted}
        if refused and not containers_gone:
            node.fail(f"running pods were refused after a restart of the kubelet: {refused}")
        for uid, message in refused.items():
            node.tell(f"{uid} is refused after the reboot: {message}")
            self._tally["pods refused after a reboot"] += 1
            self.active.pop(uid, None)

    async def start_again(self) -> None:
        """Every container can be restarted and is told what it was told first."""
        for uid, first in sorted(self.active.items()):
            started = await self._node.kubelet.start(uid, "c0")
            if started.error or started.env != first.env:
                self._node.fail(f"the container of {uid} is restarted with {started}, and was started with {first}")


def told(started: ContainerStart, resource: str) -> list[str]:
    variable = "PCIDEVICE_" + "".join(c if c.isalnum() else "_" for c in resource).upper()
    return [id_ for id_ in started.env.get(variable, "").split(",") if id_]


def held_by(devices: Mapping[str, Mapping[str, Any]], resource: str) -> list[str]:
    """The ids of a resource in one pod's hands."""
    return sorted(id_ for pod in devices.values() for part in pod.values() for id_ in part["devices"].get(resource, {}))

"""Which devices a container gets: dm/manager.go devicesToAllocate, filterByAffinity.

The order matters to a plugin: it decides when GetPreferredAllocation is called and with what.
"""

import random
from collections.abc import Collection
from dataclasses import dataclass

from tests.fakes.kubelet.affinity import Mask
from tests.fakes.kubelet.endpoints import EndpointUnusable
from tests.fakes.kubelet.grpc_status import CallFailed
from tests.fakes.kubelet.holdings import NO_NODE
from tests.fakes.kubelet.ledger import Ledger


class AllocationFailed(Exception):
    """The pod cannot be admitted; the text goes into its message."""


@dataclass(frozen=True, slots=True)
class Split:
    """Available devices by where they are: on the nodes wanted, on others, on none."""

    aligned: set[str]
    unaligned: set[str]
    nowhere: set[str]


class Selection:
    """One resource of one container being chosen."""

    def __init__(self, ledger: Ledger, resource: str, required: int, rng: random.Random) -> None:
        self.chosen: set[str] = set()
        self._ledger = ledger
        self._resource = resource
        self._required = required
        self._rng = rng

    async def choose(self, reusable: Collection[str], nodes: Mask | None) -> set[str]:
        """Take the devices; what was taken stays in use even if this fails half-way."""
        if self._take(reusable):
            return self.chosen
        available = self._ledger.table.healthy[self._resource] - self._in_use
        missing = self._required - len(self.chosen)
        if len(available) < missing:
            raise AllocationFailed(
                f"requested number of devices unavailable for {self._resource}. "
                f"Requested: {missing}, Available: {len(available)}"
            )
        split = self._split(available, nodes)
        if missing < len(split.aligned):
            preferred = await self._preferred(split.aligned)
            if self._take(preferred & split.aligned) or self._take(split.aligned):
                return self.chosen
        else:
            if self._take(split.aligned):
                return self.chosen
            preferred = await self._preferred(available)
            for devices in (preferred & available, split.unaligned, split.nowhere):
                if self._take(devices):
                    return self.chosen
        raise AllocationFailed(
            f"unexpectedly allocated less resources than required. Requested: {self._required}, Got: {len(self.chosen)}"
        )

    @property
    def _in_use(self) -> set[str]:
        # Looked up every time: it may have been counted anew during a call.
        return self._ledger.in_use.setdefault(self._resource, set())

    def _take(self, devices: Collection[str]) -> bool:
        fresh = sorted(set(devices) - self.chosen)
        missing = self._required - len(self.chosen)
        taken = self._rng.sample(fresh, min(missing, len(fresh)))
        self._in_use.update(taken)
        self.chosen.update(taken)
        return bool(taken) and len(self.chosen) == self._required

    def _split(self, available: set[str], nodes: Mask | None) -> Split:
        table = self._ledger.table
        if nodes is None or not table.has_topology(self._resource):
            return Split(set(), set(), available)
        places = {device: set(table.nodes(self._resource, device)) for device in available}
        aligned = {device for device in available if places[device] & nodes}
        nowhere = {d for d in available - aligned if not places[d] - {NO_NODE}}
        return Split(aligned, available - aligned - nowhere, nowhere)

    async def _preferred(self, candidates: set[str]) -> set[str]:
        endpoint = self._ledger.endpoints.primary.get(self._resource)
        if endpoint is None:
            raise AllocationFailed(f"endpoint not found in cache for a registered resource: {self._resource}")
        if endpoint.options is None or not endpoint.options.get_preferred_allocation_available:
            return set()
        try:
            answer = await endpoint.live().preferred(list(candidates | self.chosen), list(self.chosen), self._required)
        except (CallFailed, EndpointUnusable) as failure:
            raise AllocationFailed(f"device plugin GetPreferredAllocation rpc failed with err: {failure}") from None
        responses = answer.container_responses
        return set(responses[0].deviceIDs) if responses else set()

"""Pod admission: cm/topologymanager/scope_container.go, then lifecycle/predicate.go.

One pod at a time. Nothing here has a deadline: a plugin that does not answer holds up every pod.
"""

import asyncio

from tests.fakes.kubelet.allocation import Allocation
from tests.fakes.kubelet.ledger import Ledger
from tests.fakes.kubelet.node import Node
from tests.fakes.kubelet.pods import Pod, PodTable
from tests.fakes.kubelet.release import Release
from tests.fakes.kubelet.reports import Admission
from tests.fakes.kubelet.selection import AllocationFailed


class SyncLoop:
    def __init__(self, pods: PodTable, node: Node, ledger: Ledger, allocation: Allocation, release: Release) -> None:
        self._pods = pods
        self._node = node
        self._ledger = ledger
        self._allocation = allocation
        self._release = release
        self._turn = asyncio.Lock()

    async def admit(self, pod: Pod) -> Admission:
        """Admit or refuse; a refused pod is Failed for good and no longer active."""
        async with self._turn:
            entry = self._pods.put(pod)
            verdict = await self._judge(pod)
            entry.rejected = not verdict.admitted
            return verdict

    async def _judge(self, pod: Pod) -> Admission:
        for container in pod.in_order:
            if not self._allocation.align(pod, container):
                return Admission(
                    admitted=False,
                    reason="TopologyAffinityError",
                    message="Resources cannot be allocated with Topology locality",
                )
            try:
                await self._allocation.allocate(pod, container)
            except AllocationFailed as failure:
                return Admission(
                    admitted=False,
                    reason="UnexpectedAdmissionError",
                    message=f"Allocate failed due to {failure}, which is unexpected",
                )
        others = [other for other in self._pods.active() if other.uid != pod.uid]
        held = self._ledger.in_use if self._ledger.holdings.has_pod(pod.uid) else {}
        misfit = self._node.misfit(pod, others, held, self._release)
        if misfit is not None:
            return Admission(admitted=False, reason=misfit.reason, message=misfit.message)
        return Admission(admitted=True)

"""Which container holds which device (port DeviceUse): the kubelet's word, and where it is not to be had its notes."""

import time
from typing import Final

from adapters.kubelet.checkpoint import Checkpoint
from adapters.kubelet.kubelet_socket import KubeletSocket
from adapters.kubelet.pod_resources import PodResources
from domain.announcement import Holding
from domain.resource_name import ResourceName

_SETTLED_AFTER: Final = 30.0
"""Seconds after which a started kubelet knows its pods: until it has heard of them from the API server and from its
directory of static pods, it lists those it knows, and the devices of no others."""


class KubeletDeviceUse:
    """Asks pod-resources; and the checkpoint, where that is not mounted, does not answer or may not know all pods."""

    def __init__(self, pod_resources: PodResources, checkpoint: Checkpoint, kubelet: KubeletSocket) -> None:
        self._pod_resources = pod_resources
        self._checkpoint = checkpoint
        self._kubelet = kubelet
        self.outdated = False

    async def holdings(self) -> frozenset[Holding] | None:
        self.outdated = False
        told = await self._pod_resources.holdings()
        born = self._kubelet.born
        settled = born is not None and time.time() - born > _SETTLED_AFTER
        if told is not None and settled:
            return told
        kept = await self._checkpoint.holdings()
        if told is not None:
            return told | (kept or frozenset())
        # Without the socket nothing better will ever be told; with it the kubelet is not ready yet, or busy.
        self.outdated = settled and not self._pod_resources.mounted and await self._kubelet.answers()
        return kept

    async def granted(self) -> frozenset[ResourceName]:
        return await self._checkpoint.granted()

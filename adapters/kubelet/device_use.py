"""Which container holds which device (port DeviceUse): the kubelet's word and its notes."""

import time
from collections.abc import Collection, Iterable
from typing import Final

from adapters.kubelet.checkpoint import Checkpoint, Kept
from adapters.kubelet.kubelet_socket import KubeletSocket
from adapters.kubelet.pod_resources import PodResources
from domain.announcement import Holding
from domain.resource_name import ResourceName

_SETTLED_AFTER: Final = 30.0
"""Seconds after which a started kubelet knows its pods: until it has heard of them from the API server and from its
directory of static pods, it lists those it knows, and the devices of no others."""


class KubeletDeviceUse:
    """Asks pod-resources and the checkpoint.

    Pod-resources lists no init container that has ended or will end (pkg/kubelet/apis/podresources, server_v1.go), and
    the kubelet counts on what one was given until its pod has ended: that is in the checkpoint alone.
    """

    def __init__(self, pod_resources: PodResources, checkpoint: Checkpoint, kubelet: KubeletSocket) -> None:
        self._pod_resources = pod_resources
        self._checkpoint = checkpoint
        self._kubelet = kubelet
        self._seen: frozenset[str] = frozenset()
        self.doubtful: frozenset[Holding] = frozenset()

    async def holdings(self) -> frozenset[Holding] | None:
        told = await self._pod_resources.holdings()
        # Read later than that, or a device given out in between would be in neither.
        kept = await self._checkpoint.kept()
        noted = _holdings(kept or ())
        born = self._kubelet.born
        settled = born is not None and time.time() - born > _SETTLED_AFTER
        doubtful: frozenset[Holding] = frozenset()
        if told is None:
            # Without the socket nothing better will ever be told; with it the kubelet is not ready yet, or busy.
            if settled and not self._pod_resources.mounted and await self._kubelet.answers():
                doubtful = noted
        elif settled:
            sure, doubtful = self._compare(told, kept or ())
            noted = sure | doubtful
        self.doubtful = doubtful
        return noted | told if told is not None else None if kept is None else noted

    def _compare(
        self, told: frozenset[Holding], kept: Collection[Kept]
    ) -> tuple[frozenset[Holding], frozenset[Holding]]:
        """Of the notes those of pods that live, and those of pods that nobody has heard of.

        A pod lives while a device of it is told of, and has ended when none is told of any more.
        """
        alive = frozenset(entry.pod for entry in kept if entry.holdings & told)
        ended = self._seen - alive
        self._seen = alive | ended & {entry.pod for entry in kept}
        sure = _holdings(entry for entry in kept if entry.pod in alive)
        return sure, _holdings(entry for entry in kept if entry.pod not in alive | ended) - sure - told

    async def granted(self) -> frozenset[ResourceName]:
        return await self._checkpoint.granted()


def _holdings(kept: Iterable[Kept]) -> frozenset[Holding]:
    return frozenset(holding for entry in kept for holding in entry.holdings)

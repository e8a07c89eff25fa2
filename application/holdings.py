"""Which devices a container may hold, as far as anybody can tell."""

from collections.abc import Callable
from time import monotonic

from application.ports.kubelet import DeviceUse
from domain.announcement import Holding

SETTLED_AFTER = 30.0
"""Seconds after which a handed-out device was in the kubelet's own list of pod resources, or was given back."""


class Holdings:
    """The kubelet's word, and what was handed out too recently for it to be the last one."""

    def __init__(self, device_use: DeviceUse, clock: Callable[[], float] = monotonic) -> None:
        self._use = device_use
        self._clock = clock
        self._recent: dict[Holding, float] = {}

    def handing_out(self, holding: Holding) -> None:
        """Note that the kubelet is being given a device: it counts on it from now on."""
        self._recent[holding] = self._clock()

    async def known(self) -> frozenset[Holding] | None:
        """Every device that a container may hold; None where nobody can tell, and so any may be held."""
        told = await self._use.holdings()
        if told is None:
            return None
        oldest = self._clock() - SETTLED_AFTER
        # What the kubelet has told once it will tell until it is given back.
        self._recent = {h: since for h, since in self._recent.items() if since > oldest and h not in told}
        return told | self._recent.keys()

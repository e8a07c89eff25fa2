"""Which devices a container may hold, as far as anybody can tell."""

import asyncio
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from time import monotonic

from application.ports.kubelet import DeviceUse
from domain.announcement import Holding
from domain.resource_name import ResourceName

SETTLED_AFTER = 30.0
"""Seconds after which a handed-out device was in the kubelet's own list of pod resources, or was given back."""


class Holdings:
    """The kubelet's word, and what was handed out too recently for it to be the last one."""

    def __init__(self, device_use: DeviceUse, clock: Callable[[], float] = monotonic) -> None:
        self._use = device_use
        self._clock = clock
        self._recent: dict[Holding, float] = {}
        self.handed_out = 0
        """Grows whenever devices begin to be handed out, and when that has ended."""

    @property
    def recent(self) -> frozenset[Holding]:
        """What was handed out, or is being, and may not be in the kubelet's list yet."""
        return frozenset(self._recent)

    def now(self) -> float:
        """A moment to ask about later."""
        return self._clock()

    def since(self, moment: float) -> frozenset[Holding]:
        """What began to be handed out at a moment or later. Any thread may ask."""
        return frozenset(holding for holding, at in list(self._recent.items()) if at >= moment)

    @contextmanager
    def handing_out(self, holdings: Collection[Holding]) -> Iterator[None]:
        """Devices that the kubelet is being given: it counts on them from now on, unless this fails."""
        before = {holding: self._recent.get(holding) for holding in holdings}
        self.handed_out += 1
        self._recent |= dict.fromkeys(holdings, self._clock())
        try:
            yield
            self.handed_out += 1
        except BaseException:
            for holding, since in before.items():
                if since is None:
                    self._recent.pop(holding, None)
                else:
                    self._recent[holding] = since
            raise

    async def known(self, shows_use: Callable[[str], bool] | None = None) -> frozenset[Holding] | None:
        """Every device that a container may hold; None where nobody can tell, and so any may be held.

        Of those whose pods may have ended long ago only those count that ``shows_use``, which blocks, says of that they
        look like it.
        """
        told = await self._use.holdings()
        if told is None:
            return None
        doubtful = self._use.doubtful
        if doubtful and shows_use:
            ids = {holding.device_id for holding in doubtful}
            used = await asyncio.to_thread(lambda: {id_ for id_ in ids if shows_use(id_)})
            told -= {holding for holding in doubtful if holding.device_id not in used}
        oldest = self._clock() - SETTLED_AFTER
        # What the kubelet has told once it will tell until it is given back.
        self._recent = {h: since for h, since in self._recent.items() if since > oldest and h not in told}
        return told | self.recent

    async def granted(self) -> frozenset[ResourceName]:
        """Resources, by now perhaps in no configuration, whose devices a plugin of this kind has handed out."""
        return await self._use.granted()

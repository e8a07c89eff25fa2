"""Which devices a container may hold, as far as anybody can tell."""

import asyncio
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from time import monotonic

from application.ports.kubelet import DeviceUse
from domain.announcement import Holding
from domain.errors import DeviceUnusable
from domain.resource_name import ResourceName

SETTLED_AFTER = 30.0
"""Seconds after which a handed-out device was in the kubelet's own list of pod resources, or was given back."""


class Holdings:
    """The kubelet's word, and what was handed out too recently for it to be the last one."""

    def __init__(self, device_use: DeviceUse, clock: Callable[[], float] = monotonic) -> None:
        self._use = device_use
        self._clock = clock
        self._handed_out: dict[Holding, float] = {}
        """When each device was last begun to be handed out, or had been; those of long ago are left out."""
        self._told: set[Holding] = set()
        """Those of them that the kubelet has told of."""
        self._in_hand: list[Holding] = []
        """What is being handed out."""
        self._kept_back: set[str] = set()
        self.handed_out = 0
        """Grows whenever devices begin to be handed out, and when that has ended."""

    def now(self) -> float:
        """A moment to ask about later."""
        return self._clock()

    def since(self, moment: float) -> frozenset[Holding]:
        """What was handed out at a moment or later, or is being. Any thread may ask."""
        later = (holding for holding, at in list(self._handed_out.items()) if at >= moment)
        return frozenset((*later, *list(self._in_hand)))

    @contextmanager
    def handing_out(self, holdings: Collection[Holding]) -> Iterator[None]:
        """Devices that the kubelet is being given: it counts on them from now on, unless this fails.

        Raises:
            DeviceUnusable: if one of them is kept back.
        """
        for holding in holdings:
            if holding.device_id in self._kept_back:
                raise DeviceUnusable(holding.device_id, holding.resource, "it is being bound to its pool's driver")
        before = {holding: self._handed_out.get(holding) for holding in holdings}
        told = self._told.intersection(holdings)
        self.handed_out += 1
        self._handed_out |= dict.fromkeys(holdings, self._clock())
        self._told -= told
        self._in_hand += holdings
        try:
            yield
            self._handed_out |= dict.fromkeys(holdings, self._clock())
        except BaseException:
            for holding, at in before.items():
                if at is None:
                    self._handed_out.pop(holding, None)
                else:
                    self._handed_out[holding] = at
            self._told |= told
            raise
        finally:
            for holding in holdings:
                self._in_hand.remove(holding)
            self.handed_out += 1

    @contextmanager
    def kept_back(self, device_id: str, moment: float) -> Iterator[bool]:
        """Meanwhile nobody gets a device. False if somebody did since a moment, or is about to."""
        free = all(holding.device_id != device_id for holding in self.since(moment))
        if free:
            self._kept_back.add(device_id)
        try:
            yield free
        finally:
            self._kept_back.discard(device_id)

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
        self._handed_out = {h: at for h, at in self._handed_out.items() if at > oldest}
        # What the kubelet has told once it will tell until it is given back.
        self._told = (self._told | told - doubtful) & self._handed_out.keys() - {*self._in_hand}
        return told | (self._handed_out.keys() - self._told)

    async def granted(self) -> frozenset[ResourceName]:
        """Resources, by now perhaps in no configuration, whose devices a plugin of this kind has handed out."""
        return await self._use.granted()

"""What containers hold, where the lists of pools must mind it."""

from collections.abc import Collection, Sequence
from functools import partial

from application.holdings import Holdings
from application.signs_of_use import SignsOfUse
from domain.announcement import Announced, Holding, Lists
from domain.host import Host
from domain.pool import PoolSpec
from domain.resource_name import ResourceName


class Occupancy:
    """Asks who holds what: at a start, and while something leaves its pool or is not given back. At no other time."""

    def __init__(self, holdings: Holdings, signs: SignsOfUse, prefixes: Collection[str] = ()) -> None:
        """``prefixes`` are resource prefixes of ours, besides those of the pools there are."""
        self._holdings = holdings
        self._signs = signs
        self._prefixes = frozenset(prefixes)
        self._new: set[ResourceName] = set()
        """Pools that nobody was asked about yet."""
        self._started = False
        """Whether what containers held at the start is in the lists."""
        self._answered: frozenset[ResourceName] | None = None
        """The new pools that the last answer was about, until it is in the lists."""
        self._elsewhere: frozenset[str] | None = None

    async def lists_of_others(self, host: Host, pools: Sequence[PoolSpec], lists: Lists) -> Lists:
        """What was announced by an earlier process, or by another one in a pool that is ours from now on.

        That is what containers hold of pools that are not in the lists yet, and stays where it was. It is asked until
        it was told and `adopted`. At a start it is also in pools that are in no configuration any more: they drain.
        That such a pool was ours tells the variable that its containers were given, and its prefix: there may be other
        plugins of our kind on the node.
        """
        self._new |= {pool.name for pool in pools} - lists.keys()
        if self._started and not self._new:
            return {}
        known = await self._known(host)
        if known is None:
            return {}
        self._answered = frozenset(self._new)
        ours = set(self._new)
        if not self._started:
            prefixes = self._prefixes | {pool.name.prefix for pool in pools}
            ours |= {resource for resource in await self._holdings.granted() if resource.prefix in prefixes}
        return _announced_by_others(known, ours)

    def adopted(self) -> None:
        """The lists have what was told last."""
        if self._answered is not None:
            self._started = True
            self._new -= self._answered
            self._answered = None

    async def elsewhere(self, host: Host, ours: Collection[ResourceName]) -> frozenset[str]:
        """Ids that containers hold of resources that are none of ours: of a pool that had another name, say.

        Asked at a start, and until they are given back; later ones are of pools that drain.
        """
        if self._elsewhere is None or self._elsewhere:
            known = await self._known(host)
            if known is None:
                return self._elsewhere or frozenset()
            self._elsewhere = frozenset(h.device_id for h in known if h.resource not in ours)
        return self._elsewhere

    async def held(self, host: Host, gone: frozenset[Holding]) -> frozenset[Holding]:
        """Those of the devices that have left their pools which a container may hold.

        With them whatever else holds one of them: an id that was given out by two pools stays in both.
        """
        known = await self._known(host) if gone else frozenset()
        if known is None:
            return gone
        ids = {holding.device_id for holding in gone & known}
        return frozenset(holding for holding in known if holding.device_id in ids)

    async def _known(self, host: Host) -> frozenset[Holding] | None:
        return await self._holdings.known(partial(self._signs.of, host))


def _announced_by_others(known: Collection[Holding], ours: Collection[ResourceName]) -> Lists:
    lists: dict[ResourceName, tuple[Announced, ...]] = {}
    for holding in sorted(known, key=lambda h: h.device_id):
        if holding.resource in ours:
            lists[holding.resource] = (*lists.get(holding.resource, ()), Announced(holding.device_id))
    return lists

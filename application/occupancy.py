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
        self._told = False
        """Whether it is known what containers held at the start."""
        self._elsewhere: frozenset[str] | None = None

    async def lists_of_an_earlier_run(self, host: Host, pools: Sequence[PoolSpec]) -> Lists:
        """At a start: what containers hold was announced before, and stays where it was. Later nothing.

        Also in a pool that is not in the configuration any more: it drains. That it was ours tells the variable that
        the containers were given, and its prefix: there may be other plugins of our kind on the node.
        """
        known = None if self._told else await self._known(host)
        if known is None:
            return {}
        self._told = True
        prefixes = self._prefixes | {pool.name.prefix for pool in pools}
        ours = {pool.name for pool in pools}
        ours |= {resource for resource in await self._holdings.granted() if resource.prefix in prefixes}
        lists: dict[ResourceName, tuple[Announced, ...]] = {}
        for holding in sorted(known, key=lambda h: h.device_id):
            if holding.resource in ours:
                lists[holding.resource] = (*lists.get(holding.resource, ()), Announced(holding.device_id))
        return lists

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

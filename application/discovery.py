"""The reconcile: read the host, assign its devices, publish the difference."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from application.cdi import CdiPublication
from application.holdings import Holdings
from application.link_holds import LinkHolds
from application.pool_table import PoolTable
from application.ports.device_info_store import DeviceInfoStore
from application.ports.host_reader import HostReader
from application.ports.kubelet import PoolPublisher
from application.recovery import DriverRecovery
from application.signs_of_use import SignsOfUse
from application.tidings import Tidings
from domain.advice import Advice, advise
from domain.announcement import Announced, Holding, Lists, announce, departed, judge_links, offers, withhold, without
from domain.assignment import Assignment, assign, explain
from domain.device_info import DeviceInfo, device_info, device_info_file_name, may_be_ours
from domain.errors import FilesUnwritable
from domain.host import Host
from domain.pool import PoolSpec
from domain.resource_name import ResourceName

_ASK_AGAIN = 5.0
"""Seconds until it is asked again whether devices that leave their pool are given back: nothing tells of that."""


ShowsUse = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class _Look:
    """What one look at the host gave."""

    host: Host
    assignment: Assignment
    offered: Lists
    due: float | None
    """Seconds after which the health of a link may count as changed."""


class Discovery:
    """Brings pools, files and the kubelet in line with host and configuration. One call at a time."""

    def __init__(
        self,
        table: PoolTable,
        reader: HostReader,
        publisher: PoolPublisher,
        store: DeviceInfoStore,
        cdi: CdiPublication | None,
        holdings: Holdings,
        recovery: DriverRecovery,
        tidings: Tidings,
        link_holds: LinkHolds,
        signs: SignsOfUse,
    ) -> None:
        self._table = table
        self._reader = reader
        self._publisher = publisher
        self._store = store
        self._cdi = cdi
        self._holdings = holdings
        self._recovery = recovery
        self._tidings = tidings
        self._link_holds = link_holds
        self._signs = signs
        self._elsewhere: frozenset[str] | None = None
        self._prefixes: set[str] = set()

    async def reconcile(self) -> float | None:
        """One round; a start is the first one. Returns after how many seconds another is due, if one is.

        Raises:
            FilesUnwritable: if files cannot be written; what is worse or gone was announced, and nothing new.
        """
        table, pools = self._table, self._table.wanted
        handed_out = self._holdings.handed_out
        look = await asyncio.to_thread(self._look, pools)
        if await self._recovery.recover(look.host, pools, look.assignment):
            look = await asyncio.to_thread(self._look, pools)
        shows_use = partial(self._signs.of, look.host)
        before = table.lists or await self._lists_of_an_earlier_run(pools, shows_use)
        elsewhere = await self._held_elsewhere(pools, shows_use)
        offered = without(look.offered, elsewhere)
        departing = await self._held(departed(offered, before), shows_use)
        lists = announce(offered, before, departing)
        known, earlier = table.lists, table.host
        records = _records(look, pools, lists)
        # Before anything is announced: from then on a pod may be given the device, and its CNI plugin reads the file.
        unwritable = await self._write(look, pools, lists, records)
        # Meanwhile Allocate may have handed out what was about to leave; from here on it goes by the new lists.
        departing |= departed(offered, before) & self._holdings.recent
        lists = announce(offered, before, departing)
        if unwritable:
            lists = withhold(lists, known)
        table.served, table.host, table.lists = pools, look.host, lists
        self._tidings.of_host(earlier, look.host)
        self._tidings.of_held_back({e.id for entries in look.offered.values() for e in entries} & elsewhere)
        self._tidings.of_pools(known, lists, look.assignment)
        await self._publish(known, lists)
        if unwritable:
            raise unwritable
        await self._remove_orphans({record.file_name for record in records})
        emptied = [pool.name for pool in pools if known.get(pool.name, True) and not lists[pool.name]]
        if emptied:
            self._tidings.of_empty_pools(emptied, await asyncio.to_thread(self._advice))
        if self._holdings.handed_out != handed_out:
            # The files that Allocate has written meanwhile may be newer than this look.
            return 0.0
        return min(look.due or _ASK_AGAIN, _ASK_AGAIN) if departing or self._elsewhere else look.due

    def _look(self, pools: Sequence[PoolSpec]) -> _Look:
        host = self._reader.read()
        assignment = assign(host, pools)
        faults, due = self._link_holds.settle(judge_links(assignment, pools))
        return _Look(host, assignment, offers(host, assignment, pools, faults), due)

    async def _write(
        self, look: _Look, pools: Sequence[PoolSpec], lists: Lists, records: Sequence[DeviceInfo]
    ) -> FilesUnwritable | None:
        try:
            await asyncio.to_thread(self._store.write, records)
            if self._cdi:
                await self._cdi.publish(look.host, pools, look.assignment, lists)
        except FilesUnwritable as error:
            return error
        return None

    def _advice(self) -> tuple[Advice, ...]:
        host, pools = self._table.host, self._table.served
        return advise(host, pools, explain(host, pools))

    async def _publish(self, known: Lists, lists: Lists) -> None:
        changed = [name for name, entries in lists.items() if entries != known.get(name, ())]
        drained = [name for name in known if name not in lists]
        await asyncio.gather(*(self._publisher.publish(name, lists[name]) for name in changed))
        await asyncio.gather(*map(self._publisher.withdraw, drained))

    async def _lists_of_an_earlier_run(self, pools: Sequence[PoolSpec], shows_use: ShowsUse) -> Lists:
        """At a start: what containers hold was announced before, and stays where it was.

        Also in a pool that is not in the configuration any more: it drains.
        """
        known = await self._holdings.known(shows_use)
        if not known:
            return {}
        ours = {pool.name for pool in pools} | await self._holdings.granted()
        lists: dict[ResourceName, tuple[Announced, ...]] = {}
        for holding in sorted(known, key=lambda h: h.device_id):
            if holding.resource in ours:
                lists[holding.resource] = (*lists.get(holding.resource, ()), Announced(holding.device_id))
        return lists

    async def _held_elsewhere(self, pools: Sequence[PoolSpec], shows_use: ShowsUse) -> frozenset[str]:
        """Ids that containers hold of resources that are none of ours: of a pool that had another name, say.

        Asked at a start, and until they are given back; later ones are of pools that drain.
        """
        if self._elsewhere is None or self._elsewhere:
            ours = {pool.name for pool in pools} | self._table.lists.keys()
            known = await self._holdings.known(shows_use)
            if known is None:
                return self._elsewhere or frozenset()
            self._elsewhere = frozenset(h.device_id for h in known if h.resource not in ours)
        return self._elsewhere

    async def _held(self, gone: frozenset[Holding], shows_use: ShowsUse) -> frozenset[Holding]:
        known = await self._holdings.known(shows_use) if gone else frozenset()
        return gone if known is None else gone & known

    async def _remove_orphans(self, wanted: set[str]) -> None:
        """Drop device information of devices that are in no pool and in no container.

        Only below the resource prefixes of pools there are or were: the directory is shared with other device plugins.
        """
        self._prefixes |= {name.prefix for name in self._table.lists}
        names = await asyncio.to_thread(self._store.names)
        orphans = {name for name in names if any(may_be_ours(name, prefix) for prefix in self._prefixes)} - wanted
        known = await self._holdings.known() if orphans else None
        if known is None:
            return
        orphans -= {device_info_file_name(str(holding.resource), holding.device_id) for holding in known}
        await asyncio.to_thread(self._store.remove, orphans)
        self._tidings.of_orphans(orphans)


def _records(look: _Look, pools: Sequence[PoolSpec], lists: Lists) -> list[DeviceInfo]:
    """Device information of every device that its pool offers."""
    return [
        device_info(look.host, pool.name, member)
        for pool in pools
        if pool.device_type.has_device_info
        for offered in [{entry.id for entry in lists[pool.name]}]
        for member in look.assignment.pools[pool.name]
        if member.device.id in offered
    ]

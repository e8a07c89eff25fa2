"""The reconcile: read the host, assign its devices, publish the difference."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from application.cdi import CdiPublication
from application.holdings import Holdings
from application.link_holds import LinkHolds
from application.occupancy import Occupancy
from application.orphans import Orphans
from application.pool_table import PoolTable
from application.ports.device_info_store import DeviceInfoStore
from application.ports.host_reader import HostReader
from application.ports.kubelet import PoolPublisher
from application.recovery import DriverRecovery
from application.tidings import Tidings
from domain.advice import advise
from domain.announcement import Holding, Lists, announce, departed, judge_links, offers, united, withhold, without
from domain.assignment import Assignment, assign
from domain.device_info import DeviceInfo, device_info
from domain.errors import FilesUnwritable
from domain.host import Host
from domain.pool import PoolSpec
from domain.resource_name import ResourceName

_ASK_AGAIN = 5.0
"""Seconds until it is asked again whether devices that leave their pool are given back: nothing tells of that."""


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
        occupancy: Occupancy,
        orphans: Orphans,
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
        self._occupancy = occupancy
        self._orphans = orphans

    async def reconcile(self) -> float | None:
        """One round; a start is the first one. Returns after how many seconds another is due, if one is.

        Raises:
            FilesUnwritable: if files cannot be written; what is worse or gone was announced, and nothing new.
        """
        table, pools = self._table, self._table.wanted
        handed_out, began = self._holdings.handed_out, self._holdings.now()
        looked = began
        look = await asyncio.to_thread(self._look, pools)
        if await self._recovery.recover(look.host, pools, look.assignment):
            looked = self._holdings.now()
            look = await asyncio.to_thread(self._look, pools)
        names = {pool.name for pool in pools}
        before = united(table.lists, await self._occupancy.lists_of_others(look.host, pools, table.lists))
        elsewhere = await self._occupancy.elsewhere(look.host, names | before.keys())
        offered = without(look.offered, elsewhere)
        departing = await self._occupancy.held(look.host, departed(offered, before))
        lists = announce(offered, before, departing)
        known, earlier = table.lists, table.host
        records = _records(look, pools, lists)
        # Before anything is announced: from then on a pod may be given the device, and its CNI plugin reads the file.
        # Sockets of ours may be left from an earlier process.
        neighbours = frozenset(await self._publisher.neighbours()) - names
        unwritable = await self._write(look, pools, lists, records, neighbours, looked)
        # Meanwhile Allocate may have handed out what was about to leave; from here on it goes by the new lists.
        departing |= departed(offered, before) & self._holdings.since(began)
        lists = announce(offered, before, departing)
        if unwritable:
            lists = withhold(lists, before)
        table.served, table.host, table.lists = pools, look.host, lists
        self._occupancy.adopted()
        self._tidings.of_host(earlier, look.host)
        held_back = {e.id for entries in look.offered.values() for e in entries} & elsewhere
        self._tidings.of_held_back(held_back)
        self._tidings.of_pools(known, lists, look.assignment)
        await self._publish(known, lists)
        if unwritable:
            raise unwritable
        await self._orphans.remove(names, neighbours, {record.file_name for record in records})
        emptied = [pool.name for pool in pools if known.get(pool.name, True) and not lists[pool.name]]
        if emptied:
            self._tidings.of_empty_pools(emptied, await asyncio.to_thread(advise, look.host, pools, look.assignment))
        if self._holdings.handed_out != handed_out:
            # The files that Allocate has written meanwhile may be newer than this look.
            return 0.0
        return min(look.due or _ASK_AGAIN, _ASK_AGAIN) if departing or held_back else look.due

    def _look(self, pools: Sequence[PoolSpec]) -> _Look:
        host = self._reader.read()
        assignment = assign(host, pools)
        faults, due = self._link_holds.settle(judge_links(assignment, pools))
        return _Look(host, assignment, offers(host, assignment, pools, faults), due)

    async def _write(
        self,
        look: _Look,
        pools: Sequence[PoolSpec],
        lists: Lists,
        records: Sequence[DeviceInfo],
        neighbours: Collection[ResourceName],
        looked: float,
    ) -> FilesUnwritable | None:
        newer = self._holdings.since(looked)
        try:
            # What Allocate has written meanwhile, or is writing, it has from a later look.
            older = [r for r in records if Holding(r.resource, r.device_id) not in newer] if newer else records
            await asyncio.to_thread(self._store.write, older)
            if self._cdi:
                await self._cdi.publish(look.host, pools, look.assignment, lists, neighbours, looked)
        except FilesUnwritable as error:
            return error
        return None

    async def _publish(self, known: Lists, lists: Lists) -> None:
        changed = [name for name, entries in lists.items() if entries != known.get(name, ())]
        drained = [name for name in known if name not in lists]
        await asyncio.gather(*(self._publisher.publish(name, lists[name]) for name in changed))
        await asyncio.gather(*map(self._publisher.withdraw, drained))


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

"""The reconcile: read the host, assign its devices, publish the difference."""

import asyncio
from collections.abc import Mapping, Sequence

from application.holdings import Holdings
from application.pool_table import PoolTable
from application.ports.device_info_store import DeviceInfoStore
from application.ports.host_reader import HostReader
from application.ports.journal import Journal
from application.ports.kubelet import PoolPublisher
from domain.advice import advise
from domain.announcement import Announced, Holding, announce, departed
from domain.assignment import Assignment, assign, explain
from domain.device_info import DeviceInfo, device_info, device_info_file_name
from domain.host import Host
from domain.pool import PoolSpec
from domain.resource_name import ResourceName


class Discovery:
    """Brings pools, files and the kubelet in line with the host. One call at a time."""

    def __init__(
        self,
        table: PoolTable,
        reader: HostReader,
        publisher: PoolPublisher,
        store: DeviceInfoStore,
        holdings: Holdings,
        journal: Journal,
    ) -> None:
        self._table = table
        self._reader = reader
        self._publisher = publisher
        self._store = store
        self._holdings = holdings
        self._journal = journal

    async def reconcile(self) -> None:
        """One round; a start is the first one.

        Raises:
            DeviceInfoUnwritable: if device information cannot be written; nothing new was announced then.
        """
        table = self._table
        host, assignment, records = await asyncio.to_thread(self._look)
        lists = announce(assignment, table.pools, table.lists, await self._held(departed(assignment, table.lists)))
        # Before anything is announced: from then on a pod may be given the device, and its CNI plugin reads the file.
        await asyncio.to_thread(self._store.write, records)
        self._tell_unreadable(host.unreadable)
        before, table.host, table.lists = table.lists, host, lists
        changed = [name for name, entries in lists.items() if entries != before.get(name, ())]
        for name in changed:
            self._tell_change(name, before.get(name, ()), lists[name])
        if not before and not changed:
            self._journal.info("nothing to serve", pools=len(table.pools), functions=len(host.functions))
        await asyncio.gather(*(self._publisher.publish(name, lists[name]) for name in changed))
        await self._remove_orphans({record.file_name for record in records})
        await self._tell_empty([pool for pool in table.pools if before.get(pool.name, True) and not lists[pool.name]])

    def _look(self) -> tuple[Host, Assignment, list[DeviceInfo]]:
        host = self._reader.read()
        assignment = assign(host, self._table.pools)
        records = [
            device_info(host, resource, device) for resource, devices in assignment.pools.items() for device in devices
        ]
        return host, assignment, records

    async def _held(self, gone: frozenset[Holding]) -> frozenset[Holding]:
        known = await self._holdings.known() if gone else frozenset()
        return gone if known is None else gone & known

    async def _remove_orphans(self, wanted: set[str]) -> None:
        """Drop device information of devices that are in no pool and in no container.

        Only below the resource prefixes of this configuration: the directory is shared with other device plugins.
        """
        ours = tuple(f"{prefix}-" for prefix in {pool.name.prefix for pool in self._table.pools})
        names = await asyncio.to_thread(self._store.names)
        orphans = {name for name in names if name.startswith(ours)} - wanted
        known = await self._holdings.known() if orphans else None
        if known is None:
            return
        orphans -= {device_info_file_name(str(holding.resource), holding.device_id) for holding in known}
        await asyncio.to_thread(self._store.remove, orphans)
        for name in sorted(orphans):
            self._journal.info("device information removed", file=name, reason="in no pool and in no container")

    def _tell_change(self, resource: ResourceName, before: Sequence[Announced], after: Sequence[Announced]) -> None:
        old, new = {entry.id for entry in before}, {entry.id for entry in after}
        self._journal.info(
            "pool changed",
            resource=str(resource),
            devices=len(after),
            unhealthy=sum(entry.fault is not None for entry in after),
            added=len(new - old),
            removed=len(old - new),
        )

    async def _tell_empty(self, emptied: Sequence[PoolSpec]) -> None:
        """Say why pools that have just become empty, or were from the start, are, where it can be mended."""
        if not emptied:
            return
        host, pools = self._table.host, self._table.pools
        for advice in await asyncio.to_thread(lambda: advise(host, pools, explain(host, pools))):
            if any(advice.pool == pool.name for pool in emptied):
                self._journal.warning("pool is empty", resource=str(advice.pool), reason=advice.text)

    def _tell_unreadable(self, unreadable: Mapping[str, str]) -> None:
        for name, why in unreadable.items():
            if self._table.host.unreadable.get(name) != why:
                self._journal.warning("device left out", device=name, reason=why)

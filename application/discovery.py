"""The reconcile: read the host, assign its devices, publish the difference."""

import asyncio
from collections.abc import Mapping, Sequence

from application.cdi import CdiPublication
from application.holdings import Holdings
from application.pool_table import PoolTable
from application.ports.device_info_store import DeviceInfoStore
from application.ports.host_reader import HostReader
from application.ports.journal import Journal
from application.ports.kubelet import PoolPublisher
from domain.advice import advise
from domain.announcement import Announced, Holding, Lists, announce, departed, offers
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
        cdi: CdiPublication | None,
        holdings: Holdings,
        journal: Journal,
    ) -> None:
        self._table = table
        self._reader = reader
        self._publisher = publisher
        self._store = store
        self._cdi = cdi
        self._holdings = holdings
        self._journal = journal

    async def reconcile(self) -> None:
        """One round; a start is the first one.

        Raises:
            FilesUnwritable: if device information cannot be written; nothing new was announced then.
        """
        table = self._table
        host, assignment, offered, records = await asyncio.to_thread(self._look)
        before = table.lists or await self._lists_of_an_earlier_run()
        lists = announce(offered, before, await self._held(departed(offered, before)))
        # Before anything is announced: from then on a pod may be given the device, and its CNI plugin reads the file.
        await asyncio.to_thread(self._store.write, records)
        if self._cdi:
            await self._cdi.publish(host, table.pools, assignment, lists)
        self._tell_unreadable(host.unreadable)
        before, table.host, table.lists = table.lists, host, lists
        changed = [name for name, entries in lists.items() if entries != before.get(name, ())]
        for name in changed:
            self._tell_change(name, before.get(name, ()), lists[name])
        self._tell_host_uses(assignment, before)
        if not before and not changed:
            self._journal.info("nothing to serve", pools=len(table.pools), functions=len(host.functions))
        await asyncio.gather(*(self._publisher.publish(name, lists[name]) for name in changed))
        await self._remove_orphans({record.file_name for record in records})
        await self._tell_empty([pool for pool in table.pools if before.get(pool.name, True) and not lists[pool.name]])

    def _look(self) -> tuple[Host, Assignment, Lists, list[DeviceInfo]]:
        pools = self._table.pools
        host = self._reader.read()
        assignment = assign(host, pools)
        records = [
            device_info(host, pool.name, member)
            for pool in pools
            if pool.device_type.has_device_info
            for member in assignment.pools[pool.name]
        ]
        return host, assignment, offers(host, assignment, pools), records

    async def _lists_of_an_earlier_run(self) -> Lists:
        """At a start: what containers hold was announced before, and stays where it was."""
        known = await self._holdings.known() or ()
        return {
            pool.name: tuple(Announced(h.device_id) for h in known if h.resource == pool.name)
            for pool in self._table.pools
        }

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
        faults = {entry.id: entry.fault for entry in before}
        worse = [entry for entry in after if entry.fault is not None and faults.get(entry.id) != entry.fault]
        if worse:
            self._journal.warning(
                "devices unhealthy",
                resource=str(resource),
                devices=len(worse),
                first=worse[0].id,
                reason=worse[0].fault,
            )

    async def _tell_empty(self, emptied: Sequence[PoolSpec]) -> None:
        """Say of pools that have just become empty, or were from the start, why they are, where that is known."""
        if not emptied:
            return
        host, pools = self._table.host, self._table.pools
        advice = await asyncio.to_thread(lambda: advise(host, pools, explain(host, pools)))
        reasons = {a.pool: a.text for a in reversed(advice)}
        for pool in emptied:
            reason = reasons.get(pool.name, "no device of the host is selected: sriovdp explain tells why")
            self._journal.warning("pool is empty", resource=str(pool.name), reason=reason)

    def _tell_host_uses(self, assignment: Assignment, before: Lists) -> None:
        """Warn of devices that are offered though the host needs them: the pool says allowHostUse."""
        for resource, members in assignment.pools.items():
            known = {entry.id for entry in before.get(resource, ())}
            for member in members:
                if member.device.host_use and member.device.id not in known:
                    self._journal.warning(
                        "the host uses a device of a pool",
                        resource=str(resource),
                        device=member.device.id,
                        reason=member.device.host_use,
                    )

    def _tell_unreadable(self, unreadable: Mapping[str, str]) -> None:
        for name, why in unreadable.items():
            if self._table.host.unreadable.get(name) != why:
                self._journal.warning("device left out", device=name, reason=why)

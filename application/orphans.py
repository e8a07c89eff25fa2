"""Device information of devices that are in no pool and in no container."""

import asyncio
from collections.abc import Collection

from application.holdings import Holdings
from application.ports.device_info_store import DeviceInfoStore
from application.tidings import Tidings
from domain.device_info import device_info_file_name, is_of, may_be_ours
from domain.resource_name import ResourceName


class Orphans:
    """Removes it. Others share the directory, and may share the resource prefix.

    Of pools that there are it removes whatever is of no device of theirs. Of others it removes what it has announced
    itself before, and what an earlier process has written. What another process serves is left to that one.
    """

    def __init__(self, store: DeviceInfoStore, holdings: Holdings, tidings: Tidings) -> None:
        self._store = store
        self._holdings = holdings
        self._tidings = tidings
        self._prefixes: set[str] = set()
        self._announced: set[str] = set()
        """The files of devices that are or were in our pools, as far as they are there yet."""

    async def remove(
        self, pools: Collection[ResourceName], neighbours: Collection[ResourceName], wanted: Collection[str]
    ) -> None:
        """Remove the files that are not wanted.

        ``pools`` are those of the configuration, ``neighbours`` those that another process serves.

        Raises:
            FilesUnwritable: if the directory cannot be used.
        """
        self._prefixes.update(pool.prefix for pool in pools)
        self._announced.update(wanted)
        orphans = await asyncio.to_thread(self._found, pools, neighbours, wanted)
        known = await self._holdings.known() if orphans else None
        if known is None:
            return
        orphans -= {device_info_file_name(str(holding.resource), holding.device_id) for holding in known}
        await asyncio.to_thread(self._store.remove, orphans)
        self._announced -= orphans
        self._tidings.of_orphans(orphans)

    def _found(
        self, pools: Collection[ResourceName], neighbours: Collection[ResourceName], wanted: Collection[str]
    ) -> set[str]:
        there = frozenset(self._store.names())
        self._announced &= there
        names = {name for name in there.difference(wanted) if not any(is_of(name, pool) for pool in neighbours)}
        found = {name for name in names if name in self._announced or any(is_of(name, pool) for pool in pools)}
        unknown = [name for name in names - found if any(may_be_ours(name, prefix) for prefix in self._prefixes)]
        return found.union(self._store.ours(unknown))

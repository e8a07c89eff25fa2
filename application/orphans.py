"""Device information of devices that are in no pool and in no container."""

import asyncio
from collections.abc import Collection

from application.holdings import Holdings
from application.ports.device_info_store import DeviceInfoStore
from application.tidings import Tidings
from domain.announcement import Lists
from domain.device_info import device_id_of, device_info_file_name, is_of, may_be_ours
from domain.host import Host
from domain.resource_name import ResourceName


class Orphans:
    """Removes it, of pools there are or were. Others share the directory, and may share the resource prefix.

    Of pools of earlier processes it removes what these have written themselves, unless the device is on the host and in
    none of our pools: it may be one of another process like this.
    """

    def __init__(self, store: DeviceInfoStore, holdings: Holdings, tidings: Tidings) -> None:
        self._store = store
        self._holdings = holdings
        self._tidings = tidings
        self._pools: set[ResourceName] = set()

    async def remove(self, host: Host, pools: Collection[ResourceName], lists: Lists, wanted: Collection[str]) -> None:
        """Remove the files of the pools, and of those of earlier calls, that are not wanted.

        Raises:
            FilesUnwritable: if the directory cannot be used.
        """
        self._pools.update(pools)
        orphans = await asyncio.to_thread(self._found, host, lists, wanted)
        known = await self._holdings.known() if orphans else None
        if known is None:
            return
        orphans -= {device_info_file_name(str(holding.resource), holding.device_id) for holding in known}
        await asyncio.to_thread(self._store.remove, orphans)
        self._tidings.of_orphans(orphans)

    def _found(self, host: Host, lists: Lists, wanted: Collection[str]) -> set[str]:
        names = set(self._store.names()).difference(wanted)
        found = {name for name in names if any(is_of(name, pool) for pool in self._pools)}
        prefixes = {pool.prefix for pool in self._pools}
        unknown = [name for name in names - found if any(may_be_ours(name, prefix) for prefix in prefixes)]
        if not unknown:
            return found
        listed = {entry.id for entries in lists.values() for entry in entries}
        present = {*map(str, host.functions), *host.auxiliary, *host.unreadable} - listed
        return found.union(self._store.ours([name for name in unknown if device_id_of(name) not in present]))

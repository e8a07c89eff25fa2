"""Device information of devices that are in no pool and in no container."""

import asyncio
from collections.abc import Collection

from application.holdings import Holdings
from application.ports.device_info_store import DeviceInfoStore
from application.tidings import Tidings
from domain.device_info import device_info_file_name, may_be_ours


class Orphans:
    """Removes it, but only below the resource prefixes of pools there are or were: others share the directory."""

    def __init__(self, store: DeviceInfoStore, holdings: Holdings, tidings: Tidings) -> None:
        self._store = store
        self._holdings = holdings
        self._tidings = tidings
        self._prefixes: set[str] = set()

    async def remove(self, prefixes: Collection[str], wanted: Collection[str]) -> None:
        """Remove the files of the prefixes, and of those of earlier calls, that are not wanted.

        Raises:
            FilesUnwritable: if the directory cannot be used.
        """
        self._prefixes.update(prefixes)
        orphans = (await asyncio.to_thread(self._found)).difference(wanted)
        known = await self._holdings.known() if orphans else None
        if known is None:
            return
        orphans -= {device_info_file_name(str(holding.resource), holding.device_id) for holding in known}
        await asyncio.to_thread(self._store.remove, orphans)
        self._tidings.of_orphans(orphans)

    def _found(self) -> set[str]:
        return {name for name in self._store.names() if any(may_be_ours(name, prefix) for prefix in self._prefixes)}

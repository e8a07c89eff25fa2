"""CDI files of all pools, in line with what the pools offer and with what containers hold."""

import asyncio
from collections.abc import Mapping, Sequence
from threading import Lock

from application.holdings import Holdings
from application.ports.cdi_store import CdiStore
from domain.announcement import Lists
from domain.assignment import Assignment
from domain.cdi import CdiFile, cdi_devices, cdi_file, left_behind
from domain.exposure import DeviceNode
from domain.host import Host
from domain.pool import Member, PoolSpec
from domain.resource_name import ResourceName


class CdiPublication:
    """Owns the files. They outlive the process: a container may be restarted at any time."""

    def __init__(self, store: CdiStore, holdings: Holdings) -> None:
        self._store = store
        self._holdings = holdings
        self._files: dict[ResourceName, CdiFile] = {}
        self._prefixes: set[str] = set()
        self._lock = Lock()
        """Held by the thread that changes the files: that of a reconcile or of an Allocate."""

    async def publish(
        self, host: Host, specs: Sequence[PoolSpec], assignment: Assignment, lists: Lists, looked: float
    ) -> None:
        """Describe every device that is offered, and keep what containers may still hold.

        Facts older than those that a device was handed out by are not used: ``looked`` is when the host was.

        Raises:
            FilesUnwritable: if the files cannot be kept.
        """
        self._prefixes |= {spec.name.prefix for spec in specs}
        existing = await asyncio.to_thread(self._store.read, self._prefixes)
        fresh = {spec.name: cdi_file(spec, _offered(assignment, lists, spec), host) for spec in specs}
        leftovers = left_behind(existing, list(fresh.values()), None)
        if any(file.devices for file in leftovers):
            known = await self._holdings.known()
            held = None if known is None else frozenset(holding.device_id for holding in known)
            leftovers = left_behind(existing, list(fresh.values()), held)
        wanted = {file.name: file for file in leftovers}
        for name, file in fresh.items():
            older = wanted.get(file.name)
            fresh[name] = file.with_devices({} if older is None else older.devices)
            wanted[file.name] = fresh[name]
        await asyncio.to_thread(self._put, fresh, wanted, looked)

    def _put(self, fresh: dict[ResourceName, CdiFile], wanted: dict[str, CdiFile], looked: float) -> None:
        with self._lock:
            for resource, id_ in ((h.resource, h.device_id) for h in self._holdings.since(looked)):
                described = self._files[resource].devices if resource in self._files else {}
                if resource in fresh and id_ in described:
                    file = fresh[resource] = fresh[resource].with_devices({id_: described[id_]})
                    wanted[file.name] = file
            self._store.write(list(wanted.values()))
            # A pool that goes is served until its devices are given back; their containers may start anew meanwhile.
            going = {name: wanted[file.name] for name, file in self._files.items() if file.name in wanted}
            self._files = going | fresh

    def refresh(
        self, spec: PoolSpec, members: Mapping[str, Member], host: Host
    ) -> Mapping[str, tuple[DeviceNode, ...]]:
        """Describe some devices by facts that were just read, and return how. Blocks.

        Raises:
            FilesUnwritable: if the file cannot be kept.
        """
        described = cdi_devices(spec, members.values(), host)
        with self._lock:
            file = self._files[spec.name] = self._files[spec.name].with_devices(described)
            self._store.write([file])
        return described


def _offered(assignment: Assignment, lists: Lists, spec: PoolSpec) -> list[Member]:
    announced = {entry.id for entry in lists[spec.name]}
    return [member for member in assignment.pools[spec.name] if member.device.id in announced]

"""CDI files of all pools, in line with what the pools offer and with what containers hold."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from threading import Lock

from application.holdings import Holdings
from application.ports.cdi_store import CdiStore
from domain.announcement import Holding, Lists
from domain.assignment import Assignment
from domain.cdi import CdiFile, Nodes, cdi_devices, cdi_file, cdi_file_names, described_in, left_behind
from domain.host import Host
from domain.pool import Member, PoolSpec
from domain.resource_name import ResourceName


class CdiPublication:
    """Owns the files. They outlive the process: a container may be restarted at any time."""

    def __init__(self, store: CdiStore, holdings: Holdings) -> None:
        self._store = store
        self._holdings = holdings
        self._files: dict[str, CdiFile] = {}
        """Those that are not empty, by name."""
        self._whole = False
        """Whether that is all there is of them."""
        self._granted: dict[Holding, tuple[CdiFile, Nodes]] = {}
        """How devices were described that were handed out since the last round: an empty file, and the nodes."""
        self._prefixes: set[str] = set()
        self._lock = Lock()
        """Held by the thread that changes the files: that of a reconcile or of an Allocate."""

    async def publish(
        self,
        host: Host,
        specs: Sequence[PoolSpec],
        assignment: Assignment,
        lists: Lists,
        neighbours: Collection[ResourceName],
        looked: float,
    ) -> None:
        """Describe every device that is offered, and keep what containers may still hold.

        Facts older than those that a device was handed out by are not used: ``looked`` is when the host was.
        ``neighbours`` are pools that another process serves: their files are its own.

        Raises:
            FilesUnwritable: if the files cannot be kept.
        """
        self._prefixes |= {spec.name.prefix for spec in specs}
        existing = await asyncio.to_thread(self._store.read, self._prefixes)
        fresh = [cdi_file(spec, _offered(assignment, lists, spec), host) for spec in specs]
        names = frozenset(name for resource in neighbours for name in cdi_file_names(resource))
        existing = [file for file in existing if file.name not in names]
        leftovers = left_behind(existing, fresh, None)
        if any(file.devices for file in leftovers):
            known = await self._holdings.known()
            held = None if known is None else frozenset(holding.device_id for holding in known)
            leftovers = left_behind(existing, fresh, held)
        wanted = {file.name: file for file in leftovers}
        for file in fresh:
            wanted[file.name] = file.with_devices(wanted[file.name].devices if file.name in wanted else {})
        await asyncio.to_thread(self._put, wanted, looked)

    def _put(self, wanted: dict[str, CdiFile], looked: float) -> None:
        with self._lock:
            newer = self._holdings.since(looked)
            self._granted = {holding: how for holding, how in self._granted.items() if holding in newer}
            for holding, (file, nodes) in self._granted.items():
                wanted |= described_in(wanted, file, {holding.device_id: nodes})
            self._store.write(list(wanted.values()))
            self._files, self._whole = {name: file for name, file in wanted.items() if file.devices}, True

    def refresh(self, spec: PoolSpec, members: Mapping[str, Member], host: Host) -> Mapping[str, Nodes]:
        """Describe some devices by facts that were just read, and return how. Blocks.

        Raises:
            FilesUnwritable: if the files cannot be kept.
        """
        described = cdi_devices(spec, members.values(), host)
        empty = cdi_file(spec, (), host)
        with self._lock:
            if not self._whole:
                there = {file.name: file for file in self._store.read({spec.name.prefix})}
                self._files = there | self._files
            changed = described_in(self._files, empty, described)
            self._store.write(list(changed.values()))
            self._files = {name: file for name, file in (self._files | changed).items() if file.devices}
            self._granted |= {Holding(spec.name, id_): (empty, nodes) for id_, nodes in described.items()}
        return described


def _offered(assignment: Assignment, lists: Lists, spec: PoolSpec) -> list[Member]:
    announced = {entry.id for entry in lists[spec.name]}
    return [member for member in assignment.pools[spec.name] if member.device.id in announced]

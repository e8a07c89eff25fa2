"""Allocate: what containers get for the devices the kubelet chose for them."""

import asyncio
from collections.abc import Sequence

from application.holdings import Holdings
from application.pool_table import PoolTable
from application.ports.device_info_store import DeviceInfoStore
from application.ports.host_reader import HostReader
from application.ports.journal import Journal
from domain.announcement import Holding
from domain.device import Device, device
from domain.device_info import DeviceInfo, device_info
from domain.errors import DeviceUnusable, HostUnresponsive, NotServable
from domain.exposure import Grant, grant
from domain.host import Host
from domain.pci import PciAddress
from domain.pool import PoolSpec
from domain.resource_name import ResourceName

TIME_LIMIT = 10.0
"""Seconds. The kubelet admits one pod at a time and sets no deadline for Allocate: a call that hangs stops the node."""


class Allocation:
    """Hands out devices, all that were asked for or none."""

    def __init__(
        self,
        table: PoolTable,
        reader: HostReader,
        store: DeviceInfoStore,
        holdings: Holdings,
        journal: Journal,
        time_limit: float = TIME_LIMIT,
    ) -> None:
        self._table = table
        self._reader = reader
        self._store = store
        self._holdings = holdings
        self._journal = journal
        self._time_limit = time_limit

    async def allocate(self, resource: ResourceName, containers: Sequence[Sequence[str]]) -> tuple[Grant, ...]:
        """What each container gets, decided on facts read now.

        Raises:
            NotServable: if any device cannot be handed out whole; then nothing was.
            DeviceInfoUnwritable: if the CNI side could not be told.
        """
        try:
            grants = await self._allocate(resource, containers)
        except NotServable as refusal:
            self._journal.warning("allocation refused", resource=str(resource), reason=str(refusal))
            raise
        self._journal.info(
            "allocated", resource=str(resource), devices=sorted({id_ for ids in containers for id_ in ids})
        )
        return grants

    async def _allocate(self, resource: ResourceName, containers: Sequence[Sequence[str]]) -> tuple[Grant, ...]:
        addresses = {id_: self._table.address(resource, id_) for ids in containers for id_ in ids}
        for id_ in addresses:
            self._holdings.handing_out(Holding(resource, id_))
        spec = self._table.spec(resource)
        try:
            async with asyncio.timeout(self._time_limit):
                grants, records = await asyncio.to_thread(self._decide, spec, containers, addresses, self._table.host)
                await asyncio.to_thread(self._store.write, records)
                return grants
        except TimeoutError as timeout:
            raise HostUnresponsive(f"reading {', '.join(sorted(addresses))}", self._time_limit) from timeout

    def _decide(
        self,
        spec: PoolSpec,
        containers: Sequence[Sequence[str]],
        addresses: dict[str, PciAddress],
        known: Host,
    ) -> tuple[tuple[Grant, ...], list[DeviceInfo]]:
        host = self._reader.reread(known, addresses.values())
        devices = {id_: _still_selected(host, spec, address) for id_, address in addresses.items()}
        grants = tuple(grant([devices[id_] for id_ in dict.fromkeys(ids)], spec, host) for ids in containers)
        return grants, [device_info(host, spec.name, device) for device in devices.values()]


def _still_selected(host: Host, spec: PoolSpec, address: PciAddress) -> Device:
    if address not in host.functions:
        why = host.unreadable.get(str(address), "the function is gone from the PCI bus")
        raise DeviceUnusable(str(address), spec.name, why)
    found = device(host, address)
    if refusals := spec.refusals(found):
        raise DeviceUnusable(found.id, spec.name, "; or ".join(map(str, refusals)))
    return found

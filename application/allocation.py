"""Allocate: what containers get for the devices the kubelet chose for them."""

from collections.abc import Callable, Mapping, Sequence
from time import monotonic, sleep
from typing import TypeVar

from application.bounded_calls import BoundedCalls, Deadline
from application.cdi import CdiPublication
from application.holdings import Holdings
from application.pool_table import PoolTable
from application.ports.device_info_store import DeviceInfoStore
from application.ports.function_control import FunctionControl
from application.ports.host_reader import HostReader
from application.ports.journal import Journal
from domain.announcement import Holding
from domain.assignment import unusable
from domain.cdi import by_names
from domain.device import find_device
from domain.device_info import device_info
from domain.errors import DeviceUnusable, NotServable, SeveralRefused, SriovError
from domain.exposure import Grant, exposures, grant
from domain.host import Host
from domain.pool import Member, PoolSpec
from domain.resource_name import ResourceName

Result = TypeVar("Result")
Grants = tuple[Grant, ...]
Members = dict[str, Member]


_SETTLES_WITHIN = 2.0
"""Seconds after a reset in which a device must be whole again."""
_LOOK_AGAIN = 0.05


class Allocation:
    """Hands out devices, all that were asked for or none."""

    def __init__(
        self,
        table: PoolTable,
        reader: HostReader,
        store: DeviceInfoStore,
        cdi: CdiPublication | None,
        control: FunctionControl,
        holdings: Holdings,
        journal: Journal,
        calls: BoundedCalls,
    ) -> None:
        self._table = table
        self._reader = reader
        self._store = store
        self._cdi = cdi
        self._control = control
        self._holdings = holdings
        self._journal = journal
        self._calls = calls

    async def allocate(self, resource: ResourceName, containers: Sequence[Sequence[str]]) -> Grants:
        """What each container gets, decided on facts read now.

        Raises:
            NotServable: if any device cannot be handed out whole; then nothing was.
            FilesUnwritable: if the CNI side or the container runtime could not be told.
        """
        try:
            grants = await self._allocate(resource, containers)
        except SriovError as refusal:
            self._journal.warning("allocation refused", resource=str(resource), reason=str(refusal))
            raise
        self._journal.info(
            "allocated", resource=str(resource), devices=sorted({id_ for ids in containers for id_ in ids})
        )
        return grants

    async def _allocate(self, resource: ResourceName, containers: Sequence[Sequence[str]]) -> Grants:
        ids = sorted({id_ for ids in containers for id_ in ids})
        _each(ids, lambda id_: self._table.check(resource, id_))
        spec = self._table.spec(resource)
        known, uses = self._table.host, self._table.host_uses

        def read_again() -> tuple[Host, Members]:
            host = self._reader.reread(known, ids)
            return host, dict(zip(ids, _each(ids, lambda id_: _whole_member(host, uses, spec, id_)), strict=True))

        def hand_out(deadline: Deadline) -> Grants:
            host, members = read_again()
            if spec.reset_on_allocate and self._reset(members, deadline):
                host, members = _settled(read_again, deadline)
            grants = tuple(grant([members[i] for i in set(asked)], spec, host) for asked in containers)
            deadline.check()
            # Files that others read come first: from the answer on they may be needed.
            if spec.device_type.has_device_info:
                self._store.write([device_info(host, spec.name, member) for member in members.values()])
            if self._cdi is None:
                return grants
            described = self._cdi.refresh(spec, members, host)
            return tuple(by_names(g, spec, set(asked), described) for g, asked in zip(grants, containers, strict=True))

        with self._holdings.handing_out([Holding(resource, id_) for id_ in ids]):
            return await self._calls.run(ids, hand_out)

    def _reset(self, members: Members, deadline: Deadline) -> bool:
        """Leave nothing of the last user in the functions; whether any was reset."""
        functions = [m.device.function for m in members.values() if m.device.subfunction is None]
        for function in functions:
            deadline.check()
            self._control.reset(function)
        return bool(functions)


def _settled(read_again: Callable[[], Result], deadline: Deadline) -> Result:
    """What is read after a reset: some drivers make interfaces, RDMA devices and nodes anew, and not at once."""
    give_up = monotonic() + _SETTLES_WITHIN
    while True:
        try:
            return read_again()
        except NotServable:
            if monotonic() > give_up:
                raise
        deadline.check()
        sleep(_LOOK_AGAIN)


def _each(ids: Sequence[str], look: Callable[[str], Result]) -> list[Result]:
    """What a look at each device gives; all refusals together if there are any."""
    results: list[Result] = []
    refusals: list[NotServable] = []
    for id_ in ids:
        try:
            results.append(look(id_))
        except NotServable as refusal:
            refusals.append(refusal)
    if refusals:
        raise refusals[0] if len(refusals) == 1 else SeveralRefused(refusals)
    return results


def _whole_member(host: Host, uses: Mapping[str, str], spec: PoolSpec, id_: str) -> Member:
    # What the host uses is not asked again: a route that an advertisement brought must not fail running workloads,
    # and the selector object that took the device for the list must take it here.
    found = find_device(host, id_, uses)
    if found is None:
        raise DeviceUnusable(id_, spec.name, host.unreadable.get(id_, "the device is gone from the host"))
    # Whether a selector object may take what the host uses is its own matter.
    if refusal := unusable(found, host_use_allowed=True):
        raise DeviceUnusable(id_, spec.name, str(refusal))
    member = spec.take(found)
    if member is None:
        raise DeviceUnusable(id_, spec.name, "; or ".join(map(str, spec.refusals(found))))
    exposures(member, spec, host)
    return member

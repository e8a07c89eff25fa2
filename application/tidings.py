"""What people are told of a reconcile: one line for each change of state, and never a list of devices."""

from collections.abc import Collection, Sequence

from application.ports.journal import Journal
from domain.advice import Advice
from domain.announcement import Announced, Lists
from domain.assignment import Assignment
from domain.host import Host
from domain.resource_name import ResourceName


class Tidings:
    """Compares what was with what is, and tells the difference."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._serving: bool | None = None
        self._held_back: frozenset[str] = frozenset()

    def of_host(self, before: Host, after: Host) -> None:
        """Devices that told too little to be offered."""
        for name, why in after.unreadable.items():
            if before.unreadable.get(name) != why:
                self._journal.warning("device left out", device=name, reason=why)

    def of_pools(self, before: Lists, after: Lists, assignment: Assignment) -> None:
        """Pools that changed, that are gone, and that there is nothing to serve when that begins."""
        changed = [name for name, entries in after.items() if entries != before.get(name, ())]
        for name in changed:
            self._of_pool(name, before.get(name, ()), after[name])
        for name in before:
            if name not in after:
                self._journal.info("pool withdrawn", resource=str(name))
        self._of_host_uses(before, assignment)
        serving = any(after.values())
        if not serving and self._serving is not False:
            self._journal.info("nothing to serve", pools=len(after))
        self._serving = serving

    def of_held_back(self, ids: Collection[str]) -> None:
        """Devices that a pool selects and does not offer, since a container got them from a pool of another name."""
        if set(ids) - self._held_back:
            reason = "containers hold them as devices of another resource"
            self._journal.warning("devices held back", devices=len(ids), first=min(ids), reason=reason)
        self._held_back = frozenset(ids)

    def of_empty_pools(self, names: Sequence[ResourceName], advice: Sequence[Advice]) -> None:
        """Pools that have just become empty, or were from the start, and why, where that is known."""
        reasons = {a.pool: a.text for a in reversed(advice)}
        for name in names:
            reason = reasons.get(name, "no device of the host is selected: sriovdp explain tells why")
            self._journal.warning("pool is empty", resource=str(name), reason=reason)

    def of_orphans(self, names: Collection[str]) -> None:
        """Files that were removed."""
        if names:
            reason = "in no pool and in no container"
            self._journal.info("device information removed", files=len(names), first=min(names), reason=reason)

    def _of_pool(self, resource: ResourceName, before: Sequence[Announced], after: Sequence[Announced]) -> None:
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

    def _of_host_uses(self, before: Lists, assignment: Assignment) -> None:
        """Devices that are offered though the host needs them: the pool says allowHostUse."""
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

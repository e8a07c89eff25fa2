"""Devices that an unclean pod left on another driver, bound back to their pool's: only where a pool asks for it."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final

from application.holdings import Holdings
from application.ports.function_control import FunctionControl
from application.ports.journal import Journal
from domain.assignment import Assignment
from domain.device import Device, devices
from domain.errors import FunctionRefused
from domain.host import Host
from domain.host_use import host_uses
from domain.pool import DeviceType, PoolSpec
from domain.selectors import Drivers

_FIRST_WAIT: Final = 2.0
_LONGEST_WAIT: Final = 300.0


@dataclass(frozen=True, slots=True)
class _Failure:
    """Each try changes the host, and so is a reason to look again: the next one waits, twice as long each time."""

    wait: float
    until: float


class DriverRecovery:
    """Looks for devices that only the driver keeps out of a pool, and that nobody has."""

    def __init__(
        self,
        control: FunctionControl,
        holdings: Holdings,
        journal: Journal,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._control = control
        self._holdings = holdings
        self._journal = journal
        self._clock = clock
        self._told: dict[str, str] = {}
        self._failures: dict[str, _Failure] = {}
        self.progressed = clock()
        """When a device was last done with."""

    async def recover(self, host: Host, specs: Sequence[PoolSpec], assignment: Assignment) -> bool:
        """Whether anything was bound anew, so that the host must be read again."""
        now = self._clock()
        resting = {id_ for id_, failure in self._failures.items() if failure.until > now}
        astray = [stray for stray in _astray(host, specs, assignment) if stray[0].id not in resting]
        if not astray:
            return False
        asked = self._holdings.now()
        known = await self._holdings.known()
        done = False
        for device, driver in astray:
            if known is None:
                self._tell_failure(
                    device, driver, "without the kubelet's pod-resources or its checkpoint nobody can tell who holds it"
                )
            elif not any(holding.device_id == device.id for holding in known):
                # The lists are still those of before: it may be asked for in this very moment.
                with self._holdings.kept_back(device.id, asked) as free:
                    if free:
                        done = await asyncio.to_thread(self._bind, device, driver) or done
                self.progressed = self._clock()
        return done

    def _bind(self, device: Device, driver: str) -> bool:
        try:
            self._control.bind(device.function, driver)
        except FunctionRefused as refusal:
            before = self._failures.get(device.id)
            wait = min(2 * before.wait, _LONGEST_WAIT) if before else _FIRST_WAIT
            self._failures[device.id] = _Failure(wait, self._clock() + wait)
            self._tell_failure(device, driver, str(refusal))
            return False
        self._told.pop(device.id, None)
        self._failures.pop(device.id, None)
        self._journal.info("driver restored", device=device.id, driver=driver, before=device.driver)
        return True

    def _tell_failure(self, device: Device, driver: str, reason: str) -> None:
        if self._told.get(device.id) != reason:
            self._told[device.id] = reason
            self._journal.error("driver not restored", device=device.id, driver=driver, reason=reason)


def _astray(host: Host, specs: Sequence[PoolSpec], assignment: Assignment) -> Iterator[tuple[Device, str]]:
    """Devices in no pool, with the driver of the first pool that would take them but for their driver."""
    wanting = [spec for spec in specs if spec.restore_driver and spec.device_type is not DeviceType.AUX_NET_DEVICE]
    if not wanting:
        return
    taken = {member.device.id for members in assignment.pools.values() for member in members}
    for device in devices(host, host_uses(host)):
        # Only VFs: whoever binds a PF anew takes a port from the node, and its VFs with it.
        if device.id in taken or device.subfunction or device.function.physfn is None or device.host_use:
            continue
        driver = next((d for spec in wanting if (d := _missing_driver(device, spec))), None)
        if driver:
            yield device, driver


def _missing_driver(device: Device, spec: PoolSpec) -> str | None:
    for selector in spec.selectors:
        refused = [s for s in selector.selectors if not s.accepts(device)]
        if len(refused) == 1 and isinstance(refused[0], Drivers):
            return next(iter(refused[0].values))
    return None

"""A process under watch: the loop in it is a real one, kubelet and clock are the test's."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic

from application.following import Pace
from application.holdings import Holdings
from application.ports.pool_configuration import ConfigurationMissing, Problem
from application.recovery import DriverRecovery
from application.vitals import Vitals
from domain.resource_name import ResourceName
from tests.fakes.device_use import FakeDeviceUse
from tests.fakes.function_control import FakeFunctionControl
from tests.fakes.journal import FakeJournal
from tests.unit.application.loop import NEVER, Loop

RARELY = Pace(quiet=0.01, patience=0.02, timer=NEVER, blind_timer=NEVER, rest=0)
MISSING = ConfigurationMissing(
    "/etc/pcidp/config.json", [Problem("", 0, 0, "cannot be read: No such file or directory")]
)


@dataclass
class Contact:
    """Port KubeletContact in memory."""

    pools: dict[ResourceName, float | None] = field(default_factory=dict)

    def unheard(self) -> Mapping[ResourceName, float | None]:
        return self.pools


class Patient:
    """A process under watch: its loop, its kubelet, and a clock that can be put forward."""

    def __init__(self) -> None:
        self.loop = Loop(RARELY)
        self.contact = Contact()
        self.ahead = 0.0
        use = Holdings(FakeDeviceUse(frozenset()))
        self.recovery = DriverRecovery(FakeFunctionControl(), use, FakeJournal(), self.clock)
        self.vitals = Vitals(self.loop.following, self.recovery, self.contact, self.clock)

    def clock(self) -> float:
        return monotonic() + self.ahead

    async def looked(self) -> None:
        """Wait until the first look is over."""
        await self.loop.until(1)
        await self.no_look()

    async def no_look(self) -> None:
        while self.loop.following.looking_since is not None:
            await asyncio.sleep(0.005)

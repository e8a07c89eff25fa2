"""A node for chaos: simulated host, configuration, the daemon's process, and a kubelet behind a pipe."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Final, NoReturn

from tests.chaos.clock import Clock
from tests.chaos.disk import Disk
from tests.chaos.kubelet import end, holders, newest
from tests.fakes.kubelet.panic import KubeletPanic
from tests.model.broken import Broken
from tests.model.config_file import ConfigFile
from tests.model.expectation import Hold
from tests.model.places import Places
from tests.model.pools import NAMES, Pools
from tests.model.setup import Setup
from tests.soak.process_daemon import ProcessDaemon

_STORY: Final = 400
_KUBELET_LINES: Final = 40
_LOOKED: Final = ("nothing to serve", "pool changed", "pool is empty", "not reconciled")
_STARTED_WITHIN: Final = 20.0
_LOOK_EVERY: Final = 0.05


@dataclass
class Locks:
    """Faults of one part of a node come one after the other, those of different parts at once."""

    process: asyncio.Lock = field(default_factory=asyncio.Lock)
    kubelet: asyncio.Lock = field(default_factory=asyncio.Lock)
    configuration: asyncio.Lock = field(default_factory=asyncio.Lock)


class Node:
    def __init__(self, directory: Path, setup: Setup, chance: random.Random, *, mountable: bool) -> None:
        self.setup = setup
        self.places = Places(directory, setup.way)
        self.host = setup.host().lay(self.places.host)
        self.config = ConfigFile(self.places.config, setup.pools, config_map=setup.config_map)
        self.disk = Disk(self.places.devinfo, mountable=mountable)
        self.places.kubelet.mkdir()
        self.kubelet, self.version = newest(self.places.kubelet)
        self.clock = Clock(directory)
        self.daemon = ProcessDaemon(self.places, self.config.path, self.clock.environment)
        self.chance = chance
        self.locks = Locks()
        self.story: list[str] = []
        self.debris: set[tuple[Path, int]] = set()
        """Sockets of daemons that were killed."""
        self.resources: set[str] = set(NAMES)
        self._began = monotonic()

    @property
    def served(self) -> Pools:
        return self.config.pools

    async def open(self) -> None:
        await self.kubelet.__aenter__()
        # The plugin's own pod: a kubelet that has no pod at all does not know its pods yet.
        await self.kubelet.admit("plugin", {})
        await self.daemon.start()

    async def close(self) -> None:
        try:
            await self.daemon.kill()
            await end(self.kubelet)
        finally:
            self.disk.close()

    async def start_daemon(self) -> None:
        """Start it with a good configuration: with another it would end."""
        async with self.locks.configuration, self.locks.kubelet:
            if self.config.breakage:
                self.config.write(self.config.pools)
            await self.daemon.start()
            deadline = monotonic() + _STARTED_WITHIN
            while not self.has_looked and not self.daemon.faults() and monotonic() < deadline:
                await asyncio.sleep(_LOOK_EVERY)

    @property
    def has_looked(self) -> bool:
        """Whether the daemon has read its configuration and the host: until then a bad edit ends it."""
        return any(self.daemon.told(event) for event in _LOOKED)

    async def held(self) -> dict[Hold, list[str]]:
        """Which pods hold each device; the kubelet must be there."""
        return await holders(self.places.kubelet)

    def sockets(self) -> set[tuple[Path, int]]:
        """Sockets of pools, each with what tells it from an earlier one of the same name."""
        return {(socket, socket.stat().st_ino) for socket in self.places.pool_sockets()}

    def tell(self, text: str) -> None:
        self.story.append(f"{monotonic() - self._began:8.3f} {text}")
        del self.story[:-_STORY]

    def fail(self, *faults: str) -> NoReturn:
        raise Broken(faults, self.story, [*self.daemon.log(), *self._said_by_the_kubelet()])

    async def guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do something to the kubelet; its panic is what we are to blame for."""
        try:
            await work()
        except KubeletPanic as panic:
            self.fail(f"the kubelet has died: {panic}")

    def _said_by_the_kubelet(self) -> list[str]:
        """How it died, or what it logged last."""
        text = (self.places.kubelet / "klog").read_text(errors="replace")
        lines = [line for line in text.splitlines() if "Updated allocatable" not in line]
        at = next((i for i, line in enumerate(lines) if line.startswith(("panic:", "fatal error:"))), len(lines))
        return lines[max(0, at - _KUBELET_LINES) : at + _KUBELET_LINES]

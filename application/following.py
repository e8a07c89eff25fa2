"""The one loop: something changed, or time went by; look again and publish the difference."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from application.discovery import Discovery
from application.pool_table import PoolTable
from application.ports.change_feed import Change, ChangeFeed
from application.ports.journal import Journal
from application.ports.pool_configuration import Configuration, ConfigurationInvalid, PoolConfiguration
from domain.errors import SriovError


@dataclass(frozen=True, slots=True)
class Pace:
    """When to look again; seconds."""

    quiet: float = 0.05
    """A burst of changes is over when nothing came for this long."""
    patience: float = 0.5
    """But after this long it is looked at all the same."""
    timer: float = 60.0
    """The net under all sources of changes."""
    blind_timer: float = 5.0
    """The same while a source is not to be had, or after a failure."""
    rest: float = 9.0
    """After a look, changes wait for this many times as long as the look took: a busy node gets a tenth of a CPU."""
    longest_rest: float = 1.0
    """But no longer, however slow the node is."""


class Following:
    """Keeps the pools in line with host and configuration until it is cancelled."""

    def __init__(
        self,
        discovery: Discovery,
        configuration: PoolConfiguration,
        table: PoolTable,
        feeds: Sequence[ChangeFeed],
        journal: Journal,
        pace: Pace,
        check_interval: float,
    ) -> None:
        self._discovery = discovery
        self._configuration = configuration
        self._table = table
        self._feeds = feeds
        self._journal = journal
        self._pace = pace
        self._check_interval = check_interval
        self._interval = pace.timer
        self._blind = False
        self._changes: set[Change] = set()
        self._woken = asyncio.Event()
        self._rejected = ""
        self._current = Configuration(())
        self._loaded = monotonic()
        self.looking_since: float | None = None
        """When the look that goes on now began, on the monotonic clock; None between looks."""
        self.trouble = "the host was not looked at yet"
        """Why the last look was not all that it should be; empty if it was."""

    @property
    def rejected(self) -> str:
        """What is wrong with the configuration as it is now; empty if it is in force."""
        return self._rejected

    def wake(self, change: Change) -> None:
        """Note that something may have changed. Called on the event loop."""
        self._changes.add(change)
        self._woken.set()

    async def run(self, started: Configuration | ConfigurationInvalid) -> None:
        """Follow, beginning with a first look. Without a good configuration to start with, wait for one."""
        self._start_feeds()
        try:
            if isinstance(started, ConfigurationInvalid):
                self._rejected = str(started)  # was told by who started this
                self.wake(Change.CONFIGURATION)
                due = self._pace.blind_timer
            else:
                self._adopt(started)
                due = await self._look({Change.HOST})
            while True:
                await self._wait(due)
                changes, self._changes = self._changes, set()
                began = monotonic()
                due = await self._look(changes)
                await asyncio.sleep(min((monotonic() - began) * self._pace.rest, self._pace.longest_rest))
        finally:
            for feed in self._feeds:
                feed.stop()

    def _start_feeds(self) -> None:
        for feed in self._feeds:
            try:
                feed.start(self.wake)
            except OSError as error:
                self._blind = True
                self._journal.warning("cannot follow", source=feed.name, reason=str(error.strerror or error))

    async def _wait(self, limit: float) -> None:
        """Until something changed and then for quiet, or until the time is over."""
        try:
            async with asyncio.timeout(limit):
                await self._woken.wait()
        except TimeoutError:
            return
        deadline = monotonic() + self._pace.patience
        while self._woken.is_set() and monotonic() < deadline:
            self._woken.clear()
            await asyncio.sleep(self._pace.quiet)
        self._woken.clear()

    async def _look(self, changes: Collection[Change]) -> float:
        """One round; returns after how many seconds the next is due."""
        self.looking_since = monotonic()
        try:
            return await self._look_once(changes)
        finally:
            self.looking_since = None

    async def _look_once(self, changes: Collection[Change]) -> float:
        # Not every edit is told of (a file mounted by itself, NFS), and a busy host leaves no time without changes.
        overdue = monotonic() - self._loaded >= self._interval
        if Change.CONFIGURATION in changes or not changes or overdue:
            await self._reload()
        try:
            due = await self._discovery.reconcile()
        except SriovError as error:
            self.trouble = str(error)
            self._journal.error("not reconciled", reason=str(error), again_in=self._pace.blind_timer)
            return self._pace.blind_timer
        except Exception as error:  # noqa: BLE001 - pods are served as before, which ending would not do
            self.trouble = f"a fault of the plugin: {type(error).__name__}: {error}"
            self._journal.error("reconcile failed", again_in=self._pace.blind_timer, exc_info=True)
            return self._pace.blind_timer
        self.trouble = ""
        timer = self._pace.blind_timer if self._blind else self._interval
        return timer if due is None else min(due, timer)

    async def _reload(self) -> None:
        """Take over a configuration that is good; keep the last good one otherwise, and say so once."""
        self._loaded = monotonic()
        try:
            configuration = await asyncio.to_thread(self._configuration.load)
        except ConfigurationInvalid as invalid:
            self._reject(str(invalid))
            return
        except Exception as fault:  # noqa: BLE001 - no edit ends the daemon
            self._reject(f"a fault of the plugin: {type(fault).__name__}: {fault}", exc_info=True)
            return
        if self._rejected:
            self._journal.info("configuration good again")
        self._rejected = ""
        current = self._current
        if replace(configuration, warnings=current.warnings) != current:
            self._journal.info("configuration taken over", pools=len(configuration.pools))
        for warning in configuration.warnings:
            if warning not in current.warnings:
                self._journal.warning("configuration", problem=str(warning))
        self._adopt(configuration)

    def _reject(self, reason: str, **trace: bool) -> None:
        if reason != self._rejected:
            self._rejected = reason
            pools = len(self._table.wanted)
            self._journal.error("configuration rejected", reason=reason, pools_still_served=pools, **trace)

    def _adopt(self, configuration: Configuration) -> None:
        self._current = configuration
        self._table.wanted = configuration.pools
        self._interval = min(self._pace.timer, configuration.check_interval or self._check_interval)

"""Faults at random, several at once, and after each storm the wait for order."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Final

from tests.chaos.faults import FAULTS, Fault, mend_host
from tests.chaos.node import Node
from tests.chaos.order import disorder
from tests.chaos.pods import Pods
from tests.fakes.kubelet.panic import KubeletPanic
from tests.soak.usage import Usage, usage

_AT_ONCE: Final = (1, 1, 1, 2, 2, 3, 4)
#: Seconds from one storm to the next.
_BREATHS: Final = (0.0, 0.0, 0.5, 2.0)
_MENDED: Final = 1 / 3
"""How often somebody puts a host in order that has lost its VFs."""
_PATIENCE: Final = 150.0
"""Seconds; the kubelet's watcher waits for up to two minutes before it tries a socket again."""
_LOOK_EVERY: Final = 0.1
_MOST_GROWTH_MB: Final = 16.0
_MORE_FILES: Final = 4
_CLOSED_WITHIN: Final = 75.0
"""Seconds; a connection that the kubelet has no more use for, and keeps, is closed by the daemon after 60."""
_STARTED_AFTER: Final = 6.0
"""Seconds after which a process has what it has for its life."""


@dataclass
class Survived:
    """How often a fault was met, and the longest that order took to come back after a storm with it; seconds."""

    times: int = 0
    longest: float = 0.0
    alone: float = 0.0
    """The longest where it was the only fault."""
    waited_for: str = ""
    """What was last to be put in order, the longest time."""


@dataclass
class Record:
    faults: dict[str, Survived] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    most: Usage | None = None
    """The largest process that was seen at rest."""

    def survived(self, storm: Sequence[Fault], seconds: float, waited_for: str) -> None:
        for fault in storm:
            entry = self.faults.setdefault(fault.name, Survived())
            entry.times += 1
            if seconds > entry.longest:
                entry.longest, entry.waited_for = seconds, waited_for
            if len(storm) == 1:
                entry.alone = max(entry.alone, seconds)


class Storms:
    def __init__(self, node: Node, pods: Pods, chance: random.Random, record: Record) -> None:
        self._node = node
        self._pods = pods
        self._chance = chance
        self._record = record
        self._before: dict[int, Usage] = {}
        """What each process was when it had come to rest first, by its id."""
        self._seen: dict[int, float] = {}

    async def go(self, until: float) -> None:
        """Storm upon storm until that time.

        Raises:
            Broken: at the first invariant that does not hold.
        """
        await self.calm()
        while monotonic() < until:
            if self._chance.random() < _MENDED:
                mend_host(self._node)
            storm = self._choose()
            self._node.tell(f"storm: {', '.join(fault.name for fault in storm)}")
            await asyncio.gather(*(self._harm(fault) for fault in storm))
            self._record.survived(storm, *await self.calm())
            await asyncio.sleep(self._chance.choice(_BREATHS))

    async def _harm(self, fault: Fault) -> None:
        await asyncio.sleep(self._chance.choice((0.0, 0.0, 0.1, 1.0)))
        self._node.tell(f"{fault.name}")
        await self._node.guarded(lambda: fault.harm(self._node, self._pods))

    def _choose(self) -> list[Fault]:
        """Of each part at most one."""
        possible = [fault for fault in FAULTS if fault.possible_on(self._node)]
        chosen: dict[str, Fault] = {}
        for _ in range(self._chance.choice(_AT_ONCE)):
            (fault,) = self._chance.choices(possible, [f.weight for f in possible])
            chosen.setdefault(fault.part, fault)
        return list(chosen.values())

    async def calm(self) -> tuple[float, str]:
        """Seconds until everything is in order, and what was last; nothing but pods happens meanwhile."""
        began, last = monotonic(), ""
        while faults := await self._disorder():
            last = faults[0]
            if monotonic() - began > _PATIENCE:
                self._node.fail(f"no order after {_PATIENCE:g} s:", *faults)
            await asyncio.sleep(_LOOK_EVERY)
        seconds = monotonic() - began
        self._node.tell(f"in order after {seconds:.1f} s")
        self._record.counts["times in order"] += 1
        await self._weigh()
        return seconds, last

    async def _disorder(self) -> list[str]:
        """What is not in order yet; with nothing left, every container was restarted too."""
        node = self._node
        if broken := node.daemon.faults():
            node.fail(*broken)
        async with node.locks.kubelet:
            try:
                faults = await disorder(node, self._pods)
                if not faults:
                    await self._pods.start_again()
                    faults = await self._pods.must_admit()
            except KubeletPanic as panic:
                node.fail(f"the kubelet has died: {panic}")
        return faults

    async def _weigh(self) -> None:
        """Memory and files are what they were at the first rest of this process."""
        node, pid = self._node, self._node.daemon.pid
        if pid is None or not node.sockets():
            return  # gRPC makes most of its files with the first pool
        if pid not in self._before and monotonic() - self._seen.setdefault(pid, monotonic()) < _STARTED_AFTER:
            return
        before = self._before.setdefault(pid, usage(pid))
        # What is being closed is waited for.
        deadline = monotonic() + _CLOSED_WITHIN
        while (now := usage(pid)).files > before.files + _MORE_FILES + len(node.served):
            if monotonic() > deadline:
                node.fail(f"{now.files} files are open, and were {before.files} at the first rest: {_kinds(pid)}")
            await asyncio.sleep(_LOOK_EVERY)
        if now.rss > before.rss + _MOST_GROWTH_MB:
            node.fail(f"{now.rss:.1f} MB of memory, and {before.rss:.1f} MB at the first rest")
        if self._record.most is None or now.rss > self._record.most.rss:
            self._record.most = now


def _kinds(pid: int) -> dict[str, int]:
    """How many open files of each kind; sockets and such without their numbers."""
    links = (link.readlink() for link in Path(f"/proc/{pid}/fd").iterdir())
    return dict(Counter(str(target).partition("[")[0] for target in links))

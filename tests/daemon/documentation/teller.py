"""Stories that happen on a node, and what the log tells of them."""

import asyncio
import json
import re
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from entrypoints.settings import Settings
from tests.daemon.live import HASTY, KERN, WATCHER, Live, live
from tests.fakes.kubelet import Timing
from tests.hosts.host import SimHost
from tests.hosts.named import h1


@dataclass(frozen=True, slots=True)
class Said:
    """A line of the log, and when it was written."""

    at: float
    line: str


class Teller:
    """A node on which a story happens."""

    def __init__(self, node: Live) -> None:
        self.node = node
        self._steps: list[tuple[str, float]] = []

    def step(self, what: str) -> None:
        """What an operator does, or what befalls the node."""
        self._steps.append((what, time.time()))

    def told(self) -> list[tuple[str, list[Said]]]:
        """Each step, and what the log says until the next one; seconds count from the step."""
        events = sorted((event for log in self.node.logs for event in log.events), key=lambda e: str(e["timestamp"]))
        ends = [at for _, at in self._steps[1:]] + [float("inf")]
        return [
            (what, [Said(at - began, self._line(event)) for event in events if began <= (at := _time(event)) < end])
            for (what, began), end in zip(self._steps, ends, strict=True)
        ]

    def _line(self, event: dict[str, Any]) -> str:
        facts = {key: value for key, value in event.items() if key not in {"event", "level", "timestamp"}}
        shown = " ".join(f"{key}={_fact(value)}" for key, value in facts.items())
        line = f"{event['level']}  {event['event']}  {shown}".rstrip()
        for path, place in (
            (self.node.config, "/etc/pcidp/config.json"),
            (self.node.devinfo, str(Settings.model_fields["devinfo_dir"].default)),
            (self.node.laid.root, ""),
            (self.node.directory, "/var/lib/kubelet"),
        ):
            line = line.replace(str(path), place)
        return re.sub(r"-[0-9a-f]{10,}\.sock", "-<time>.sock", line)


def _time(event: dict[str, Any]) -> float:
    return datetime.fromisoformat(event["timestamp"]).timestamp()


def _fact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


Story = Callable[[Teller], Coroutine[Any, Any, None]]


Played = list[tuple[str, list[Said]]]


@dataclass(frozen=True, slots=True)
class Scene:
    """A story and the node that it happens on."""

    story: Story
    host: Callable[[], SimHost] = h1
    pools: tuple[dict[str, Any], ...] = (KERN,)
    way: str = WATCHER
    timing: Timing = HASTY

    async def play(self) -> list[tuple[str, list[Said]]]:
        async with live(self.host(), *self.pools, way=self.way, timing=self.timing) as node:
            teller = Teller(node)
            await self.story(teller)
            await asyncio.sleep(0.2)  # for what is said last
            return teller.told()


async def started(node: Live, pool: str = "kern", devices: int = 4) -> None:
    await node.start()
    await node.served(pool, devices)

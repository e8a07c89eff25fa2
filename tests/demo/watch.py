"""Changes of pools at the kubelet, a line each."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tests.demo.node import POOLS, DaemonEnded, Node
from tests.demo.story import Act
from tests.fakes.kubelet import FakeKubelet

_LOOK_EVERY: Final = 0.1
_LISTEN: Final = 0.8
"""Seconds in which the lists of a change come, after the first of them; or in which none comes."""
_LISTEN_AT_MOST: Final = 20.0
_FREE: Final = "0000:3b:01.2"
_BOUND: Final = "0000:3b:01.3"


def instructions(node: Node) -> Iterator[str]:
    """How to change the simulated host from another terminal."""
    devices = "sys/bus/pci/devices"
    way = (node.host / devices / _FREE).readlink()
    yield f"Watching until Ctrl-C. The simulated host is {node.host}"
    yield "Change it in another terminal, for instance:"
    yield f"  cd {node.host}"
    yield f"  rm {devices}/{_FREE}  # unplug a VF; one that a pod holds stays in the list, Unhealthy"
    yield f"  ln -s {way} {devices}/  # plug it in again"
    yield f"  sed -i s/iavf/vfio-pci/ {devices}/{_BOUND}/uevent  # bind a VF to another driver"
    yield f"The daemon's log is {node.log}"


class Watch:
    """Looks at what the kubelet has been told since the last look."""

    def __init__(self, kubelet: FakeKubelet, daemon: asyncio.subprocess.Process) -> None:
        self._kubelet = kubelet
        self._daemon = daemon
        self._seen = {resource: len(kubelet.messages(resource)) for resource in POOLS}

    async def play(self, acts: Sequence[Act]) -> None:
        """Make each change and print what the kubelet is told of it.

        Raises:
            DaemonEnded: if the daemon ends."""
        for act in acts:
            print(f"{time.strftime('%X')}  {act.told}", flush=True)
            began = time.monotonic()
            await asyncio.to_thread(act.play)
            news = await self._first_news() if act.is_news else []
            await asyncio.sleep(_LISTEN)
            lines = [f"  after {at - began:.2f} s  {line}" for at, line in [*news, *self._news()]]
            print(*(lines or ["  nothing to tell the kubelet"]), sep="\n", flush=True)

    async def go_on(self) -> None:
        """Print each change, until cancelled.

        Raises:
            DaemonEnded: if the daemon ends."""
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            for _, line in self._news():
                print(f"{time.strftime('%X')}  {line}", flush=True)

    async def _first_news(self) -> list[tuple[float, str]]:
        end = time.monotonic() + _LISTEN_AT_MOST
        while not (news := self._news()) and time.monotonic() < end:
            await asyncio.sleep(_LOOK_EVERY)
        return news

    def _news(self) -> list[tuple[float, str]]:
        """When a list came, and a line about it."""
        if self._daemon.returncode is not None:
            raise DaemonEnded(self._daemon.returncode)
        news = []
        for resource, before in self._seen.items():
            messages = self._kubelet.messages(resource)
            for number in range(before, len(messages)):
                old, new = messages[number - 1].health, messages[number].health
                news.append((messages[number].at, f"{resource}  {len(new)} devices  {_difference(old, new)}"))
            self._seen[resource] = len(messages)
        return news


def _difference(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    parts = [f"+{device}" for device in new if device not in old]
    parts += [f"-{device}" for device in old if device not in new]
    parts += [f"{device} is {health}" for device, health in new.items() if old.get(device, health) != health]
    return " ".join(parts) or "the same list again"

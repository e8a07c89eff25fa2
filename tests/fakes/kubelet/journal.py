"""What a test wants to know afterwards: calls in order, messages, log lines; and a bell for each."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from google.protobuf.message import Message as Protobuf

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as dp


@dataclass(frozen=True, slots=True)
class Call:
    """One call, either way: every method is the kubelet's call but Register."""

    method: str
    resource: str
    socket: Path
    at: float  # time.monotonic()
    argument: Protobuf


@dataclass(frozen=True, slots=True)
class Received:
    """One ListAndWatch message."""

    resource: str
    socket: Path
    at: float
    devices: tuple[dp.Device, ...]

    @property
    def health(self) -> dict[str, str]:
        return {device.ID: device.health for device in self.devices}


@dataclass(eq=False, slots=True)
class Journal:
    calls: list[Call] = field(default_factory=list)
    messages: list[Received] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)  # what a kubelet would log
    _bells: set[asyncio.Event] = field(default_factory=set)

    def called(self, method: str, resource: str, socket: Path, argument: Protobuf) -> None:
        self.calls.append(Call(method, resource, socket, time.monotonic(), argument))
        self.ring()

    def received(self, resource: str, socket: Path, message: dp.ListAndWatchResponse) -> None:
        devices = tuple(message.devices)
        self.messages.append(Received(resource, socket, time.monotonic(), devices))

    def note(self, text: str) -> None:
        self.notices.append(text)
        self.ring()

    async def wait_for(self, predicate: Callable[[], bool | Awaitable[bool]], within: float) -> None:
        """Look at every event and at least every 50 ms; TimeoutError tells what happened."""
        end = time.monotonic() + within
        while not await _truth(predicate()):
            left = end - time.monotonic()
            if left <= 0:
                calls = [f"{call.method} {call.resource}".strip() for call in self.calls[-10:]]
                notices = self.notices[-5:]
                raise TimeoutError(f"not within {within} s; last calls {calls}, notices {notices}")
            await self._news(min(left, 0.05))

    def ring(self) -> None:
        for bell in self._bells:
            bell.set()

    async def _news(self, within: float) -> None:
        """Return at the next change, or when the time is over."""
        bell = asyncio.Event()
        self._bells.add(bell)
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(bell.wait(), within)
        finally:
            self._bells.discard(bell)


async def _truth(answer: bool | Awaitable[bool]) -> bool:
    return answer if isinstance(answer, bool) else await answer

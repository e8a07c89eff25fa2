"""Ask one resource all that a case asks: options, devices, and the Allocate calls in their order."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.golden.case import Answer
from tests.golden.plugin import Plugin, connected, devices_of

Request = list[list[str]]


@dataclass(slots=True)
class Probe:
    """A kubelet's connections to the plugin's sockets; streams stay open until it is left.

    *calls* are the Allocate requests by resource.
    """

    calls: Mapping[str, Sequence[Request]]
    answers: dict[str, Answer] = field(default_factory=dict)
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def watched(self, socket: Path) -> None:
        """A socket has appeared in ``plugins_registry``."""
        plugin = await self._stack.enter_async_context(connected(socket))
        info = await plugin.info()
        self.answers[info["name"]] = await self._ask(plugin, info["name"], socket=socket.name, info=info)
        await plugin.registered()

    async def registered(self, directory: Path, register: dict[str, Any]) -> None:
        """The plugin has called Register; its socket is in *directory*."""
        socket = directory / register["endpoint"]
        plugin = await self._stack.enter_async_context(connected(socket))
        name = register["resource_name"]
        self.answers[name] = await self._ask(plugin, name, socket=socket.name, register=register)

    async def _ask(self, plugin: Plugin, name: str, **introduction: Any) -> Answer:
        options = await plugin.options()
        stream = plugin.lists()
        self._stack.callback(stream.cancel)
        devices = devices_of(await anext(aiter(stream)))
        calls = [
            {"request": request, "response": await plugin.allocate(request)} for request in self.calls.get(name, ())
        ]
        return {**introduction, "options": options, "devices": devices, "calls": calls}


@asynccontextmanager
async def probing(calls: Mapping[str, Sequence[Request]]) -> AsyncIterator[Probe]:
    async with AsyncExitStack() as stack:
        yield Probe(calls, _stack=stack)

"""The JSON commands of testbed/kubelet, answered by the fake: one object a line each way.

Commands run side by side, so that capacity answers while an admission hangs; answers carry the id.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any

from tests.fakes.kubelet.kubelet import FakeKubelet
from tests.fakes.kubelet.panic import KubeletPanic
from tests.fakes.kubelet.pods import Container
from tests.fakes.kubelet.reports import Admission
from tests.fakes.kubelet.tasks import ProcessDied

Command = Mapping[str, Any]
Reply = dict[str, Any]


class Commands:
    def __init__(
        self,
        kubelet: FakeKubelet,
        send: Callable[[Reply], None],
        on_panic: Callable[[], None],
    ) -> None:
        self._kubelet = kubelet
        self._send = send
        self._on_panic = on_panic
        self._running: set[asyncio.Task[None]] = set()
        self._handlers: Mapping[str, Callable[[Command], Awaitable[Reply]]] = {
            "admit": self._admit,
            "capacity": self._capacity,
            "devices": self._devices,
            "expire": self._expire,
            "health": self._health,
            "node": self._node,
            "pods": self._pods,
            "quit": self._quit,
            "readmit": self._readmit,
            "restart": self._restart,
            "sources_ready": self._sources_ready,
            "start": self._start,
            "status": self._status,
            "terminate": self._terminate,
            "updates": self._updates,
        }

    def take(self, line: str) -> bool:
        """Begin with the command on this line; false if it was the last."""
        try:
            command: Command = dict(json.loads(line))
        except (TypeError, ValueError) as error:
            self._send({"ok": False, "error": str(error)})
            return True
        name = command.get("cmd", "")
        if name not in self._handlers:
            self._send(_failure(command, f'unknown command "{name}"'))
            return True
        task = asyncio.get_running_loop().create_task(self._answer(command, self._handlers[name]))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return bool(name != "quit")

    async def _answer(self, command: Command, handler: Callable[[Command], Awaitable[Reply]]) -> None:
        try:
            reply = await handler(command)
        except KubeletPanic:
            self._on_panic()
        except ProcessDied:
            pass  # the connection of a client ends with the process, too
        except (KeyError, LookupError, TypeError, ValueError) as error:
            self._send(_failure(command, str(error.args[0] if error.args else error)))
        else:
            head = {"id": command.get("id"), "cmd": command["cmd"], "ok": "error" not in reply}
            self._send(head | reply)

    async def _quit(self, command: Command) -> Reply:
        return {}

    async def _capacity(self, command: Command) -> Reply:
        return asdict(await self._kubelet.capacity())

    async def _node(self, command: Command) -> Reply:
        return {"node": asdict(await self._kubelet.node())}

    async def _admit(self, command: Command) -> Reply:
        verdict = await self._kubelet.admit(
            command.get("uid", ""),
            command.get("requests"),
            name=command.get("name", ""),
            namespace=command.get("namespace", ""),
            container=command.get("container", "c0"),
            init=[Container.from_json(value) for value in command.get("init") or ()],
            pod=command.get("pod"),
            no_start=command.get("no_start", False),
        )
        return {"result": verdict.as_json()}

    async def _start(self, command: Command) -> Reply:
        started = await self._kubelet.start(command["uid"], command["container"])
        return started.as_json() if started.error else {"options": started.as_json()}

    async def _terminate(self, command: Command) -> Reply:
        await self._kubelet.terminate(command["uid"])
        return {}

    async def _pods(self, command: Command) -> Reply:
        return {"pods": [asdict(pod) for pod in await self._kubelet.pods()]}

    async def _devices(self, command: Command) -> Reply:
        return {"pods": await self._kubelet.devices(command.get("uid") or None)}

    async def _health(self, command: Command) -> Reply:
        return {"containers": await self._kubelet.health(command["uid"])}

    async def _updates(self, command: Command) -> Reply:
        return {"updates": await self._kubelet.updates()}

    async def _restart(self, command: Command) -> Reply:
        verdicts = await self._kubelet.restart(
            down_s=command.get("down_s", 0.0),
            settle_s=command.get("settle_s", 0.0),
            containers_gone=command.get("containers_gone", False),
            no_readmit=command.get("no_readmit", False),
        )
        reply: Reply = {"kubelet": f"fake {self._kubelet.version}"}
        return reply if command.get("no_readmit") else reply | {"readmitted": _admissions(verdicts)}

    async def _readmit(self, command: Command) -> Reply:
        return {"readmitted": _admissions(await self._kubelet.readmit())}

    async def _sources_ready(self, command: Command) -> Reply:
        await self._kubelet.sources_ready(command.get("ready", True))
        return {}

    async def _expire(self, command: Command) -> Reply:
        await self._kubelet.expire(command["resource"])
        return {}

    async def _status(self, command: Command) -> Reply:
        status = await self._kubelet.status()
        return status | {"last_restart": _admissions(status["last_restart"])}


def _admissions(verdicts: Mapping[str, Admission]) -> dict[str, Any]:
    return {uid: verdict.as_json() for uid, verdict in verdicts.items()}


def _failure(command: Command, text: str) -> Reply:
    return {"id": command.get("id"), "cmd": command.get("cmd", ""), "ok": False, "error": text}

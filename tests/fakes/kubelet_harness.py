"""The real kubelet code of testbed/kubelet, with the methods of the fake.

    async with KubeletHarness(binary, directory) as kubelet: ...

No spies: what the kubelet asked of a plugin, the plugin knows (tests/fakes/plugin.py).
"""

import asyncio
import contextlib
import itertools
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.fakes.kubelet.panic import KubeletPanic
from tests.fakes.kubelet.pods import Container
from tests.fakes.kubelet.reports import (
    Admission,
    CapacityReport,
    ContainerStart,
    NodeReport,
    PodReport,
)


class KubeletHarness:
    def __init__(self, binary: Path, directory: Path, *arguments: str) -> None:
        self.directory = directory
        self._command = [str(binary), "--root", str(directory), *arguments]
        self._process: asyncio.subprocess.Process | None = None
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._started = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        with (self.directory / "klog").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=4 << 20,
            )
        self._reader = asyncio.create_task(self._read())
        await asyncio.wait_for(self._started.wait(), 20)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is None or self._reader is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        await self._process.wait()
        await self._reader

    async def capacity(self) -> CapacityReport:
        return CapacityReport.from_json(await self._do("capacity"))

    async def node(self) -> NodeReport:
        return NodeReport.from_json((await self._do("node"))["node"])

    async def admit(
        self,
        uid: str = "",
        requests: Mapping[str, int] | None = None,
        *,
        name: str = "",
        namespace: str = "",
        container: str = "c0",
        init: Sequence[Container] = (),
        pod: Mapping[str, Any] | None = None,
        no_start: bool = False,
    ) -> Admission:
        fields: dict[str, Any] = {"pod": pod} if pod is not None else {}
        answer = await self._do(
            "admit",
            uid=uid,
            requests=requests or {},
            name=name,
            namespace=namespace,
            container=container,
            init=[asdict(part) for part in init],
            no_start=no_start,
            **fields,
        )
        return Admission.from_json(answer["result"])

    async def start(self, uid: str, container: str) -> ContainerStart:
        answer = await self._do("start", uid=uid, container=container, fails=True)
        return ContainerStart.from_json(answer.get("options", answer))

    async def terminate(self, uid: str) -> None:
        await self._do("terminate", uid=uid)

    async def pods(self) -> list[PodReport]:
        rows = (await self._do("pods"))["pods"]
        return [PodReport(**(row | {"running": row["running"] or {}})) for row in rows]

    async def devices(self, uid: str | None = None) -> dict[str, dict[str, Any]]:
        pods: dict[str, dict[str, Any]] = (await self._do("devices", uid=uid or ""))["pods"]
        return pods

    async def health(self, uid: str) -> dict[str, list[dict[str, Any]]]:
        containers = (await self._do("health", uid=uid))["containers"]
        return {name: statuses or [] for name, statuses in containers.items()}

    async def updates(self) -> list[list[str]]:
        return (await self._do("updates"))["updates"] or []

    async def restart(
        self,
        *,
        down_s: float = 0.0,
        settle_s: float = 0.0,
        containers_gone: bool = False,
        no_readmit: bool = False,
    ) -> dict[str, Admission]:
        answer = await self._do(
            "restart",
            down_s=down_s,
            settle_s=settle_s,
            containers_gone=containers_gone,
            no_readmit=no_readmit,
        )
        return _admissions(answer.get("readmitted", {}))

    async def readmit(self) -> dict[str, Admission]:
        return _admissions((await self._do("readmit"))["readmitted"])

    async def sources_ready(self, ready: bool = True) -> None:
        await self._do("sources_ready", ready=ready)

    async def expire(self, resource: str) -> None:
        await self._do("expire", resource=resource)

    async def hints(self, uid: str, requests: Mapping[str, int]) -> dict[str, list[dict[str, Any]]]:
        """By resource, the NUMA nodes from which a pod with one container could have its devices."""
        answer = await self._do("hints", uid=uid, requests=requests)
        hints: dict[str, list[dict[str, Any]]] = answer["hints"]["c0"]
        return hints

    async def cut(self, text: str) -> int:
        """Break the connections to sockets bound to a path with the text in it; how many there were."""
        return int((await self._do("cut", prefix=text))["cut"])

    async def metrics(self, prefix: str) -> dict[str, float]:
        """The kubelet's own metrics, since its last start."""
        values: dict[str, float] = (await self._do("metrics", prefix=prefix))["metrics"]
        return values

    @property
    def log(self) -> str:
        """What the kubelet's code has logged, of all its lives."""
        return (self.directory / "klog").read_text(encoding="utf-8", errors="replace")

    async def status(self) -> dict[str, Any]:
        return await self._do("status")

    async def wait_for(self, predicate: Callable[[], bool | Awaitable[bool]], within: float = 20.0) -> None:
        end = time.monotonic() + within
        while True:
            answer = predicate()
            if answer if isinstance(answer, bool) else await answer:
                return
            if time.monotonic() > end:
                raise TimeoutError(f"not within {within} s")
            await asyncio.sleep(0.05)

    async def wait_allocatable(self, resource: str, count: int, within: float = 20.0) -> None:
        async def allocatable() -> bool:
            report = await self.capacity()
            return report.device_manager.allocatable.get(resource) == count

        await self.wait_for(allocatable, within)

    # --- inside

    async def _do(self, cmd: str, *, fails: bool = False, **fields: Any) -> dict[str, Any]:
        """Send a command and await its answer; an error is raised unless it is expected."""
        if self._process is None or self._process.stdin is None:
            raise KubeletPanic("not running")
        number = next(self._ids)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        line = json.dumps({"id": number, "cmd": cmd, **fields})
        self._process.stdin.write(f"{line}\n".encode())
        answer: dict[str, Any] = await future
        if not answer["ok"] and not fails:
            raise LookupError(answer["error"])
        return answer

    async def _read(self) -> None:
        if self._process is None or self._process.stdout is None:
            return
        async for line in self._process.stdout:
            answer = json.loads(line)
            if future := self._waiting.pop(answer.get("id"), None):
                if not future.done():  # who asked may have been cancelled
                    future.set_result(answer)
            elif answer.get("event") == "started":
                self._started.set()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(KubeletPanic("the harness ended; its trace is in klog"))


def _admissions(answer: Mapping[str, Any]) -> dict[str, Admission]:
    return {uid: Admission.from_json(verdict) for uid, verdict in answer.items()}

"""The fake kubelet a test holds: methods named as the commands of the real harness, and spies.

It stands for everything a restart does not touch (pods, Node, directory) and has one process at
a time. A test that runs against this class can run against testbed/kubelet with a client that
has the same methods.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from tests.fakes.kubelet.allocation import SourcesReady
from tests.fakes.kubelet.device_table import DeviceTable
from tests.fakes.kubelet.inspection import device_health, held_devices
from tests.fakes.kubelet.journal import Call, Journal, Received
from tests.fakes.kubelet.node import Node
from tests.fakes.kubelet.panic import KubeletPanic
from tests.fakes.kubelet.pods import Container, Pod, PodTable
from tests.fakes.kubelet.process import Process
from tests.fakes.kubelet.release import RELEASES
from tests.fakes.kubelet.reports import (
    Admission,
    CapacityReport,
    ContainerStart,
    NodeReport,
    PodReport,
)
from tests.fakes.kubelet.setting import Setting
from tests.fakes.kubelet.tasks import ProcessDied
from tests.fakes.kubelet.timing import Timing

T = TypeVar("T")

_LONGEST_SOCKET_PATH = 107


class FakeKubelet:
    def __init__(
        self,
        directory: Path,
        *,
        version: str = "1.37",
        clock: Callable[[], float] = time.monotonic,
        topology_policy: Literal["none", "single-numa-node"] = "none",
        numa_nodes: int = 2,
        watcher: bool = True,
        settled: bool = True,
        timing: Timing | None = None,
        seed: int = 0,
    ) -> None:
        if len(str(directory / "pod-resources" / "kubelet.sock")) > _LONGEST_SOCKET_PATH:
            raise ValueError(f"too long for unix sockets: {directory}")
        self.directory = directory
        self.panics: list[KubeletPanic] = []
        self._journal = Journal()
        self._failures: list[BaseException] = []
        self._setting = Setting(
            directory=directory,
            release=RELEASES[version],
            timing=timing or Timing(),
            machine=frozenset(range(numa_nodes)),
            aligned=topology_policy == "single-numa-node",
            watches=watcher,
            settled=settled,
            journal=self._journal,
            clock=clock,
            rng=random.Random(seed),  # noqa: S311 - no secret, a test wants it again
            failures=self._failures,
        )
        self._pods = PodTable()
        self._node = Node()
        self._process: Process | None = None
        self._last_restart: dict[str, Admission] = {}

    async def __aenter__(self) -> Self:
        await self.boot(SourcesReady())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.kill()
        if self._failures and error is None:
            raise BaseExceptionGroup("the fake kubelet has a fault", self._failures)

    # --- where things are

    @property
    def version(self) -> str:
        return self._setting.release.version

    @property
    def socket_directory(self) -> Path:
        return self.directory / "device-plugins"

    @property
    def registry(self) -> Path:
        return self.directory / "plugins_registry"

    @property
    def kubelet_socket(self) -> Path:
        return self.socket_directory / "kubelet.sock"

    @property
    def podresources_socket(self) -> Path:
        return self.directory / "pod-resources" / "kubelet.sock"

    # --- the commands of the harness

    async def capacity(self) -> CapacityReport:
        """Update the Node now."""
        self._living.tick()
        return CapacityReport(self._node.last, self._node.report())

    async def node(self) -> NodeReport:
        """The Node as the last tick left it."""
        return self._node.report()

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
        """Admit a pod and start its containers; pod is a whole v1.Pod instead of the short form."""
        if pod is not None:
            wanted = Pod.from_manifest(pod)
        else:
            app = Container(container, requests or {})
            wanted = Pod(uid, name or uid, namespace or "default", (app,), tuple(init))
        if not wanted.uid:
            raise LookupError("pod without uid")
        verdict = await self._admit(wanted)
        if not verdict.admitted or no_start:
            return verdict
        starts: dict[str, ContainerStart] = {}
        for part in wanted.in_order:
            starts[part.name] = await self.start(wanted.uid, part.name)
            if starts[part.name].error:
                break  # the later ones would not be started either
        return Admission(admitted=True, containers=starts)

    async def start(self, uid: str, container: str) -> ContainerStart:
        """(Re)start one container; an error is what would be its CreateContainerConfigError."""
        entry = self._pods.find(uid)
        part = entry.pod.container(container)
        started = await self._run(lambda p: p.starts.start(entry.pod, part), f"start {uid}/{container}")
        entry.running[container] = not started.error
        return started

    async def terminate(self, uid: str) -> None:
        """The pod has succeeded. Nobody tells the plugin."""
        entry = self._pods.find(uid)
        entry.done = True
        entry.running = {}

    async def pods(self) -> list[PodReport]:
        return [PodReport(e.pod.uid, e.pod.name, e.active, e.rejected, dict(e.running)) for e in self._pods]

    async def devices(self, uid: str | None = None) -> dict[str, dict[str, Any]]:
        """Pod -> container -> {"devices": {resource: {id: [nodes]}}, "affinity": [nodes]}."""
        return {
            entry.pod.uid: held_devices(self._living, entry) for entry in self._pods if uid in {None, entry.pod.uid}
        }

    async def health(self, uid: str) -> dict[str, list[dict[str, Any]]]:
        """allocatedResourcesStatus of each app container."""
        return device_health(self._living.ledger, self._pods.find(uid))

    async def updates(self) -> list[list[str]]:
        """Pods whose device health changed, a list a message, since the last call."""
        ledger = self._living.ledger
        updates, ledger.updates = ledger.updates, []
        return updates

    async def restart(
        self,
        *,
        down_s: float = 0.0,
        settle_s: float = 0.0,
        containers_gone: bool = False,
        no_readmit: bool = False,
    ) -> dict[str, Admission]:
        """Kill the process and start another; containers_gone makes it a reboot of the node."""
        running = frozenset(
            (entry.pod.uid, container)
            for entry in self._pods
            for container, up in entry.running.items()
            if up and entry.active and not containers_gone
        )
        if containers_gone:
            for entry in self._pods:
                entry.running = {}
        await self.kill()
        await asyncio.sleep(down_s)
        await self.boot(SourcesReady(ready=False, running=running))
        await asyncio.sleep(settle_s)
        self._last_restart = {} if no_readmit else await self.readmit()
        return self._last_restart

    async def readmit(self) -> dict[str, Admission]:
        """Admit the active pods again, as after a start; then the sources are ready."""
        verdicts = {pod.uid: await self._admit(pod) for pod in self._pods.active()}
        self._living.sources.ready = True
        return verdicts

    async def sources_ready(self, ready: bool = True) -> None:
        self._living.sources.ready = ready

    async def expire(self, resource: str) -> None:
        """The five-minute grace of a stopped endpoint is over."""
        self._living.ledger.expire(resource)

    async def status(self) -> dict[str, Any]:
        process = self._living
        return {
            "kubelet": f"fake {self.version}",
            "last_restart": self._last_restart,
            "sources_ready": process.sources.ready,
            "reset_extended_resources": process.reset,
        }

    # --- what no harness has

    async def kill(self) -> None:
        """The process is gone, its files are not."""
        process, self._process = self._process, None
        if process is not None:
            await process.die()

    async def boot(self, sources: SourcesReady | None = None) -> None:
        """Start a process by hand, after kill; restart does both."""
        self._process = Process(self._setting, self._pods, self._node, sources or SourcesReady())
        try:
            await self._process.start()
        except BaseException:
            await self.kill()
            raise

    @property
    def calls(self) -> list[Call]:
        """Every call so far, in order; Register is the plugin's, the others are the kubelet's."""
        return self._journal.calls

    def calls_of(self, method: str, resource: str | None = None) -> list[Call]:
        return [c for c in self.calls if c.method == method and resource in {None, c.resource}]

    def messages(self, resource: str) -> list[Received]:
        return [m for m in self._journal.messages if m.resource == resource]

    @property
    def notices(self) -> list[str]:
        """What a kubelet would have logged."""
        return self._journal.notices

    def counts(self, resource: str) -> tuple[int, int] | None:
        """(capacity, allocatable) as the device manager has it; no Node update, unlike capacity."""
        table = self._process.ledger.table if self._process else DeviceTable()
        if resource not in table.healthy:
            return None
        healthy = len(table.healthy[resource])
        return healthy + len(table.unhealthy[resource]), healthy

    def is_registered(self, resource: str) -> bool:
        """A live endpoint that has sent its list."""
        endpoints = self._process.ledger.endpoints.primary if self._process else {}
        endpoint = endpoints.get(resource)
        return endpoint is not None and endpoint.stopped_at is None and endpoint.heard

    async def wait_for(self, predicate: Callable[[], bool | Awaitable[bool]], within: float = 60.0) -> None:
        await self._journal.wait_for(predicate, within)

    async def wait_registered(self, resource: str, within: float = 60.0) -> None:
        await self.wait_for(lambda: self.is_registered(resource), within)

    async def wait_allocatable(self, resource: str, count: int, within: float = 60.0) -> None:
        def allocatable() -> bool:
            counts = self.counts(resource)
            return counts is not None and counts[1] == count

        await self.wait_for(allocatable, within)

    # --- inside

    @property
    def _living(self) -> Process:
        if self._process is None:
            raise self.panics[-1] if self.panics else ProcessDied("no kubelet runs")
        return self._process

    async def _admit(self, pod: Pod) -> Admission:
        return await self._run(lambda process: process.sync_loop.admit(pod), f"admit {pod.uid}")

    async def _run(self, work: Callable[[Process], Coroutine[Any, Any, T]], name: str) -> T:
        """Do the work as the process does it: it ends with the process, and a panic ends both."""
        try:
            return await self._living.tasks.run(work(self._living), name)
        except KubeletPanic as panic:
            self.panics.append(panic)
            await self.kill()
            raise

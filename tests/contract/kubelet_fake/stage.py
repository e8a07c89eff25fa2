"""A kubelet, and the plugins a test puts before it.

With KUBELET_HARNESS=/path/to/kubelet-137 KUBELET_VERSION=1.37 the same tests run against the real code: then those
are skipped that need another version, a faked clock or a look inside.
"""

import asyncio
import functools
import os
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Self, cast

import pytest

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as dp
from tests.fakes.kubelet import FakeKubelet, Timing
from tests.fakes.kubelet_harness import KubeletHarness
from tests.fakes.plugin import RESOURCE, ScriptedPlugin

P = ParamSpec("P")

REAL = os.environ.get("KUBELET_HARNESS")
REAL_VERSION = os.environ.get("KUBELET_VERSION", "1.37")

# The real numbers, a twentieth of most of them.
FAST = Timing(
    dial=0.5,
    redial=0.05,
    get_info=0.2,
    notify=0.4,
    reconcile=0.05,
    backoff_first=0.025,
    backoff_most=1.0,
    pre_start=0.4,
)


def story(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run the test in a loop of its own, and not for ever."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), 120 if REAL else 60))

    return run


class Stage:
    def __init__(
        self,
        directory: Path,
        version: str | None = None,
        *,
        timing: Timing = FAST,
        single_numa_node: bool = False,
        node_tick: float | None = None,
        fake_only: bool = False,
        **options: Any,
    ) -> None:
        self.directory = directory
        self.plugins: list[ScriptedPlugin] = []
        policy = "single-numa-node" if single_numa_node else "none"
        if REAL:
            if fake_only or options or version not in {None, REAL_VERSION}:
                pytest.skip("needs the fake")
            arguments = ("--policy", policy, "--numa", "2", "--node-tick", f"{node_tick or 3600}s")
            harness = KubeletHarness(Path(REAL), directory, *arguments)
            self.kubelet = cast("FakeKubelet", harness)
        else:
            if node_tick:
                timing = replace(timing, node_tick=node_tick)
            options |= {"version": version or "1.37", "timing": timing, "topology_policy": policy}
            self.kubelet = FakeKubelet(directory, settled=False, **options)

    async def __aenter__(self) -> Self:
        await self.kubelet.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for plugin in self.plugins:
            await plugin.stop()
        await self.kubelet.__aexit__(kind, error, trace)

    def script(
        self,
        resource: str = RESOURCE,
        devices: Sequence[str | dp.Device] = ("d0", "d1", "d2", "d3"),
        **options: Any,
    ) -> ScriptedPlugin:
        """A plugin that does nothing yet."""
        plugin = ScriptedPlugin(self.directory, resource, devices, **options)
        self.plugins.append(plugin)
        return plugin

    async def serving(self, name: str = "p.sock", **options: Any) -> ScriptedPlugin:
        plugin = self.script(**options)
        await plugin.serve(name)
        return plugin

    async def registered(self, name: str = "p.sock", **options: Any) -> ScriptedPlugin:
        """A plugin registered in the classic way whose list has arrived."""
        plugin = await self.serving(name, **options)
        await plugin.register()
        healthy = sum(device.health == "Healthy" for device in plugin.devices)
        await self.kubelet.wait_allocatable(plugin.resource, healthy)
        return plugin

    async def watched(self, name: str = "p.sock", **options: Any) -> ScriptedPlugin:
        """A plugin in plugins_registry; found or not."""
        plugin = self.script(**options)
        await plugin.serve(name, watcher=True)
        return plugin

    async def pause(self, reconciles: float = 3) -> None:
        """Long enough for whatever is going to happen."""
        await asyncio.sleep(reconciles * (1.0 if REAL else FAST.reconcile))

    async def counts(self, resource: str = RESOURCE) -> tuple[int | None, int | None]:
        """(capacity, allocatable) of the device manager after a look at them."""
        report = (await self.kubelet.capacity()).device_manager
        return report.capacity.get(resource), report.allocatable.get(resource)

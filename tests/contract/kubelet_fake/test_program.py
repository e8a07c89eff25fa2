"""The fake kubelet as a program speaks as the real harness does (testbed/kubelet, Protocol)."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.kubelet_fake.stage import REAL, story
from tests.fakes.kubelet import KubeletPanic
from tests.fakes.kubelet_harness import KubeletHarness
from tests.fakes.plugin import RESOURCE, ScriptedPlugin

pytestmark = pytest.mark.skipif(REAL is not None, reason="needs the fake")


class Program(KubeletHarness):
    """The client of the real harness, before the fake."""

    def __init__(self, directory: Path, *arguments: str) -> None:
        super().__init__(Path(sys.executable), directory)
        module = ["-m", "tests.fakes.kubelet"]
        self._command = [sys.executable, *module, str(directory), *arguments]


@contextlib.asynccontextmanager
async def registered(directory: Path, program: Program) -> AsyncIterator[ScriptedPlugin]:
    plugin = ScriptedPlugin(directory, preferred=True)
    await plugin.serve()
    await plugin.register()
    await program.wait_allocatable(RESOURCE, 4)
    try:
        yield plugin
    finally:
        await plugin.stop()


@story
async def test_the_client_of_the_real_harness_can_drive_it(directory: Path) -> None:
    """All commands, by their names."""
    program = Program(directory, "--version", "1.36", "--no-watcher")
    async with program, registered(directory, program):
        assert not (directory / "plugins_registry").exists()
        status = await program.status()
        assert status["kubelet"] == "fake 1.36"
        assert status["sources_ready"] is True
        verdict = await program.admit("a", {RESOURCE: 2}, name="pod")
        assert verdict.containers["c0"].env == {"DEVS": "d0,d1"}
        assert (await program.start("a", "c0")) == verdict.containers["c0"]
        assert (await program.node()).capacity == {RESOURCE: 4}
        assert (await program.devices())["a"]["c0"] == {"devices": {RESOURCE: {"d0": [], "d1": []}}}
        assert len((await program.health("a"))["c0"][0]["resources"]) == 2
        [pod] = await program.pods()
        assert (pod.name, pod.active, pod.running) == ("pod", True, {"c0": True})
        assert await program.updates() == []
        assert (await program.restart(no_readmit=True)) == {}
        assert (await program.readmit())["a"].admitted
        await program.sources_ready(ready=False)
        assert (await program.status())["sources_ready"] is False
        await program.terminate("a")
        await program.expire(RESOURCE)
        report = await program.capacity()
        assert report.device_manager.removed == (RESOURCE,)
        assert report.node.capacity == {RESOURCE: 0}
        with pytest.raises(LookupError, match='no pod "zzz"'):
            await program.terminate("zzz")


@story
async def test_answers_do_not_wait_for_one_another(directory: Path) -> None:
    """capacity answers while an admission hangs."""
    program = Program(directory)
    async with program, registered(directory, program) as plugin:
        hanging = asyncio.Event()

        async def hang(request: Any, context: Any) -> None:
            await hanging.wait()

        plugin.scripts["Allocate"] = hang
        admission = asyncio.create_task(program.admit("a", {RESOURCE: 1}))
        await program.wait_for(lambda: "Allocate" in plugin.methods)
        assert (await program.capacity()).device_manager.capacity == {RESOURCE: 4}
        hanging.set()
        assert (await admission).admitted


@story
async def test_a_panic_is_exit_code_2(directory: Path) -> None:
    """Item 36, with the words on stderr."""
    program = Program(directory)
    async with program, registered(directory, program) as plugin:

        async def drop(request: Any, context: Any) -> None:
            plugin.drop("d0", "d1", "d2", "d3")
            await program.wait_allocatable(RESOURCE, 0)

        plugin.scripts["Allocate"] = drop
        with pytest.raises(KubeletPanic):
            await program.admit("a", {RESOURCE: 1})
        assert program._process is not None
        assert await program._process.wait() == 2
        assert "panic: runtime error" in (directory / "klog").read_text()


@story
async def test_it_ends_with_quit_and_with_its_input(directory: Path) -> None:
    """The first line out says that everything listens."""
    for last in (b'not json\n{"id":1,"cmd":"nope"}\n{"id":2,"cmd":"quit"}\n', b""):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.fakes.kubelet", str(directory)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate(last)
        assert process.returncode == 0
        started, *answers = [json.loads(line) for line in out.splitlines()]
        assert started["event"] == "started"
        assert started["root"] == str(directory)
        if last:
            assert [answer["ok"] for answer in answers] == [False, False, True]
            assert answers[1]["error"] == 'unknown command "nope"'

"""The real daemon's answer to a case: run it on the case's node and play its kubelet."""

import asyncio
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tests.golden.case import Answer, Case
from tests.golden.injected import injected
from tests.golden.node import Node
from tests.golden.probe import Probe, probing
from tests.golden.registry import Registry, registry
from tests.hosts.ground import temporary_directory

#: Seconds for a start to come to its end, on a machine that does other things too; for a stop.
START: Final = 60.0
STOP: Final = 30.0
#: Seconds in which a daemon that has said that it serves nothing shows that it does not.
IDLE: Final = 0.3

_PAUSE: Final = 0.02


async def answer(case: Case) -> Answer:
    """Run the daemon on the case's node; the answer is in the form of the recordings."""
    with temporary_directory() as base:
        node = Node(base, case)
        node.lay()
        try:
            found = await _conversation(node)
        except Exception as trouble:
            trouble.add_note(f"log of the daemon:\n{node.log.read_text()}")
            raise
        return {**found, "log": node.log.read_text()}


async def _conversation(node: Node) -> Answer:
    calls = {name: [call["request"] for call in pool["calls"]] for name, pool in node.case.pools.items()}
    async with _kubelet(node) as kubelet, probing(calls) as probe, _daemon(node) as daemon:
        start = await _served(node, daemon, kubelet, probe)
        specs = node.cdi()
        for resource in probe.answers.values():
            _inject(resource, specs)
        device_info = node.device_info()
        return {
            "start": start,
            "exit": await _stopped(daemon),
            "resources": probe.answers,
            "devinfo": device_info,
            "cdi": specs,
        }


@asynccontextmanager
async def _kubelet(node: Node) -> AsyncIterator[Registry | None]:
    if node.case.mode == "registry":
        yield None
        return
    async with registry(node.device_plugins / "kubelet.sock") as service:
        yield service


@asynccontextmanager
async def _daemon(node: Node) -> "AsyncIterator[subprocess.Popen[bytes]]":
    with node.log.open("wb") as log:
        command = node.command()
        daemon = subprocess.Popen(  # noqa: ASYNC220 - short, and without a watcher thread
            command, env=node.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        yield daemon
    finally:
        daemon.kill()
        daemon.wait()


async def _served(node: Node, daemon: "subprocess.Popen[bytes]", kubelet: Registry | None, probe: Probe) -> str:
    """Meet pools as they appear, until the start is what it has to be, or is over; returns how it went."""
    end = time.monotonic() + START
    while daemon.poll() is None:
        last = time.monotonic() > end or _complete(node, probe)
        if last and not node.case.pools:
            await asyncio.sleep(IDLE)
        await _meet(node, kubelet, probe)
        if last:
            return "ready" if daemon.poll() is None else "exit"
        await asyncio.sleep(_PAUSE)
    return "exit"


def _complete(node: Node, probe: Probe) -> bool:
    """Whether all pools are there, or the daemon says that it has none; one that has to exit is never complete."""
    if node.case.pools:
        return len(probe.answers) >= len(node.case.pools)
    return node.case.right[0]["start"] == "ready" and '"nothing to serve"' in node.log.read_text()


async def _meet(node: Node, kubelet: Registry | None, probe: Probe) -> None:
    """Ask the pools that have appeared since the last time."""
    if kubelet:
        while not kubelet.calls.empty():
            await probe.registered(node.device_plugins, kubelet.calls.get_nowait())
        return
    met = {resource["socket"] for resource in probe.answers.values()}
    for socket in sorted(node.plugins_registry.glob("*.sock")):
        if socket.name not in met:
            await probe.watched(socket)


async def _stopped(daemon: "subprocess.Popen[bytes]") -> int | str:
    """The exit code, after SIGTERM if it still runs."""
    daemon.terminate()
    end = time.monotonic() + STOP
    while (code := daemon.poll()) is None:
        if time.monotonic() > end:
            return "does not stop"
        await asyncio.sleep(_PAUSE)
    return code


def _inject(resource: Answer, specs: Answer) -> None:
    """Add to each response what reaches the container."""
    for call in resource["calls"]:
        if isinstance(call["response"], list):
            for response in call["response"]:
                response["injected"] = injected(response, specs)

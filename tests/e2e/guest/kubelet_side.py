"""The fake kubelet, as the slow guest needs it, and what it holds."""

import tempfile
from pathlib import Path

from tests.e2e.guest.daemon import Daemon
from tests.fakes.kubelet import FakeKubelet, Timing

PATIENCE = 120.0
"""Seconds in which anything happens; emulation makes a start of Python ten times slower."""


def directory() -> Path:
    """A short path: a socket's has 107 bytes at most."""
    return Path(tempfile.mkdtemp(prefix="kubelet-", dir="/run"))


def kubelet(where: Path, *, watcher: bool) -> FakeKubelet:
    # A real kubelet gives GetInfo 1 s, on a real CPU.
    return FakeKubelet(where, watcher=watcher, timing=Timing(dial=30.0, get_info=10.0, notify=20.0))


async def wait_offered(playing: FakeKubelet, daemon: Daemon, resources: list[str]) -> dict[str, set[str]]:
    """Wait until every resource is registered; the ids each last list has, all of them healthy."""

    def all_registered() -> bool:
        daemon.assert_runs()
        return all(playing.is_registered(resource) for resource in resources)

    await playing.wait_for(all_registered, within=PATIENCE)
    offered = {}
    for resource in resources:
        health = playing.messages(resource)[-1].health
        assert set(health.values()) <= {"Healthy"}
        offered[resource] = set(health)
    return offered


async def restart(playing: FakeKubelet, resources: list[str]) -> None:
    """Restart it and wait until every resource has sent a list again."""
    before = {resource: len(playing.messages(resource)) for resource in resources}

    def all_heard() -> bool:
        return all(len(playing.messages(resource)) > n for resource, n in before.items())

    await playing.restart()
    await playing.wait_for(all_heard, within=PATIENCE)


def files(where: Path) -> set[str]:
    """Everything below the kubelet's directory but its own checkpoint."""
    return {str(path.relative_to(where)) for path in where.rglob("*") if path.name != "kubelet_internal_checkpoint"}

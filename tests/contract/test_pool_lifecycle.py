"""A pool's server and its kubelet come and go: real gRPC over real sockets."""

import asyncio
import os
import stat
from pathlib import Path

import pytest

from tests.contract.pool_plugin import ENTRIES, WAYS, P, Q, plugin
from tests.fakes.kubelet import EAGER, FakeKubelet


def ours(directory: Path) -> list[Path]:
    return [p for p in directory.glob("*/*") if p.name != "kubelet.sock" and p.is_socket()]


@pytest.mark.parametrize("way", WAYS)
def test_a_registered_pool_tells_health_and_topology_and_answers_allocate(way: str, short_path: Path) -> None:
    async def story() -> None:
        async with (
            FakeKubelet(short_path, timing=EAGER, watcher=way == "watcher") as kubelet,
            plugin(short_path) as under_test,
        ):
            await under_test.publisher.publish(P, ENTRIES)
            await kubelet.wait_registered(str(P), 60)
            assert kubelet.counts(str(P)) == (3, 2)
            admitted = await kubelet.admit("pod", {str(P): 1})
            started = admitted.containers["c0"]
            assert started.env == {"A": "b"}
            assert started.devices == ({"host": "/dev/x", "container": "/dev/y", "permissions": "rw"},)

    asyncio.run(story())


def test_an_unchanged_list_is_not_sent_again(short_path: Path) -> None:
    """Case B09."""

    async def story() -> None:
        async with FakeKubelet(short_path, timing=EAGER) as kubelet, plugin(short_path) as under_test:
            for _ in range(5):
                await under_test.publisher.publish(P, ENTRIES)
            await kubelet.wait_registered(str(P), 60)
            for _ in range(5):
                await under_test.publisher.publish(P, ENTRIES)
            await under_test.publisher.publish(P, ENTRIES[:1])
            await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (1, 1))
            assert len(kubelet.messages(str(P))) == 2

    asyncio.run(story())


@pytest.mark.parametrize("way", WAYS)
def test_a_socket_that_somebody_removes_is_served_anew(way: str, short_path: Path) -> None:
    """Cases A01, I03; the other pool is not touched."""

    async def story() -> None:
        async with (
            FakeKubelet(short_path, timing=EAGER, watcher=way == "watcher") as kubelet,
            plugin(short_path) as under_test,
        ):
            await under_test.publisher.publish(P, ENTRIES)
            await under_test.publisher.publish(Q, ENTRIES)
            for pool in (P, Q):
                await kubelet.wait_registered(str(pool), 60)
            streams = len(kubelet.calls_of("ListAndWatch", str(Q)))
            (victim,) = (s for s in ours(short_path) if "_p" in s.name)
            victim.unlink()
            before = len(kubelet.calls_of("ListAndWatch", str(P)))
            await kubelet.wait_for(lambda: len(kubelet.calls_of("ListAndWatch", str(P))) > before, 60)
            await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (3, 2), 60)
            assert len(kubelet.calls_of("ListAndWatch", str(Q))) == streams

    asyncio.run(story())


@pytest.mark.parametrize("version", ["1.32", "1.37"])
@pytest.mark.parametrize("way", WAYS)
def test_pools_are_back_after_a_restart_of_the_kubelet(way: str, version: str, short_path: Path) -> None:
    """Cases A02, A03: one Register for each kubelet, on a path of its own; no device is handed out again."""

    async def story() -> None:
        async with (
            FakeKubelet(short_path, timing=EAGER, watcher=way == "watcher", version=version) as kubelet,
            plugin(short_path) as under_test,
        ):
            await under_test.publisher.publish(P, ENTRIES)
            await kubelet.wait_registered(str(P), 60)
            assert (await kubelet.admit("pod", {str(P): 1})).admitted
            for _ in range(3):
                readmitted = await kubelet.restart(down_s=0.3)
                assert readmitted["pod"].admitted
                await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (3, 2), 60)
            assert len(kubelet.calls_of("Allocate")) == 1
            if way == "classic":
                endpoints = [
                    call.argument.endpoint  # type: ignore[attr-defined]
                    for call in kubelet.calls_of("Register")
                ]
                assert len(set(endpoints)) == len(endpoints) == 4
            assert len(ours(short_path)) == 1

    asyncio.run(story())


def test_a_pool_waits_for_a_kubelet_that_is_not_there_yet(short_path: Path) -> None:
    """Case A02: not served before, since a starting kubelet sweeps the directory; said once."""

    async def story() -> None:
        (short_path / "device-plugins").mkdir()
        async with plugin(short_path) as under_test:
            await under_test.publisher.publish(P, ENTRIES)
            await asyncio.sleep(0.7)
            assert ours(short_path) == []
            assert len(under_test.journal.told("not served yet")) == 1
            async with FakeKubelet(short_path, timing=EAGER, watcher=False) as kubelet:
                await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (3, 2), 60)

    asyncio.run(story())


def test_nothing_is_left_in_the_directory_after_a_stop(short_path: Path) -> None:
    async def story() -> None:
        async with FakeKubelet(short_path, timing=EAGER) as kubelet:
            async with plugin(short_path) as under_test:
                for pool in (P, Q):
                    await under_test.publisher.publish(pool, ENTRIES)
                    await kubelet.wait_registered(str(pool), 60)
                assert len(ours(short_path)) == 2
                assert {stat.S_IMODE(s.stat().st_mode) for s in ours(short_path)} == {0o600}
            assert os.listdir(short_path / "plugins_registry") == []  # noqa: PTH208

    asyncio.run(story())

"""Kubelets that do not listen to a pool, although both sides live; five seconds are a fifth of one here."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from adapters.kubelet.publisher import KubeletPaths, KubeletPublisher, Registration
from domain.announcement import Announced
from domain.exposure import Grant
from domain.resource_name import ResourceName
from tests.daemon.live import together
from tests.fakes.journal import FakeJournal
from tests.fakes.kubelet import RELEASES, FakeKubelet, Timing
from tests.golden.registry import registry

P = ResourceName("intel.com", "p")
ENTRIES = tuple(Announced(f"0000:3b:01.{i}") for i in range(4))
PATIENCE = 0.2
NOT_LISTENING = "the kubelet does not listen"


@pytest.fixture(autouse=True)
def hurry(mocker: MockerFixture) -> None:
    mocker.patch("adapters.kubelet.lifecycle._UNHEARD_AFTER", PATIENCE)
    mocker.patch("adapters.kubelet.publisher._LOOK_INTERVAL", 0.02)


async def _grants(resource: ResourceName, containers: object) -> list[Grant]:
    return [Grant({}) for _ in containers]  # type: ignore[attr-defined]


@asynccontextmanager
async def serving(directory: Path, way: Registration) -> AsyncIterator[FakeJournal]:
    journal = FakeJournal()
    publisher = KubeletPublisher(KubeletPaths(directory, directory), way, _grants, journal)
    await publisher.publish(P, ENTRIES)
    try:
        yield journal
    finally:
        await publisher.stop()


async def until(condition: Callable[[], bool], within: float = 60.0) -> None:
    async with asyncio.timeout(within):
        while not condition():
            await asyncio.sleep(0.01)  # files tell nobody when they change


@pytest.mark.parametrize("way", [Registration.WATCHER, Registration.CLASSIC])
def test_a_stream_that_the_kubelet_dropped_comes_back_as_often_as_it_is_dropped(
    way: Registration, short_path: Path
) -> None:
    """Facts/kubelet.md 4.1, 4.2, 8.2: never twice on one path, and the first one's end does not cut off the second."""

    async def story(version: str) -> None:
        directory = short_path / version
        directory.mkdir()
        timing = Timing(reconcile=0.02)
        watcher = way is Registration.WATCHER
        async with (
            serving(directory, way) as journal,
            FakeKubelet(directory, version=version, watcher=watcher, timing=timing) as kubelet,
        ):
            for _ in range(3):
                await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (4, 4), 60)
                streams = len(kubelet.calls_of("ListAndWatch", str(P)))
                drop(kubelet)
                await kubelet.wait_for(
                    lambda: len(kubelet.calls_of("ListAndWatch", str(P))) > streams,  # noqa: B023 - asked at once
                    60,
                )
            await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (4, 4), 60)
            assert [n for n in kubelet.notices if "already connected" in n] == []
            sockets = [call.socket for call in kubelet.calls_of("Register")]
            assert len(set(sockets)) == len(sockets)
            assert {told["reason"] for told in journal.told("served anew")} == {NOT_LISTENING}

    asyncio.run(together(*map(story, RELEASES)))


def test_a_kubelet_that_never_listens_is_told_of_the_pool_again_ever_more_seldom(short_path: Path) -> None:
    """Each time on a path of its own, and one at a time."""
    (short_path / "device-plugins").mkdir()

    async def story() -> None:
        async with registry(short_path / "device-plugins" / "kubelet.sock") as kubelet:
            async with serving(short_path, Registration.CLASSIC):
                times, endpoints = [], []
                for _ in range(4):
                    call = await asyncio.wait_for(kubelet.calls.get(), 60)
                    times.append(asyncio.get_running_loop().time())
                    endpoints.append(call["endpoint"])
                    assert [p.name for p in ours(short_path)] == [call["endpoint"]]
            gaps = [after - before for before, after in pairwise(times)]
            assert len(set(endpoints)) == 4
            assert all(gap > PATIENCE * 2**times * 0.9 for times, gap in enumerate(gaps)), gaps

    asyncio.run(story())


def test_a_watcher_that_never_looks_gets_a_new_socket_ever_more_seldom(short_path: Path) -> None:
    (short_path / "plugins_registry").mkdir()

    async def story() -> None:
        async with FakeKubelet(short_path, watcher=False), serving(short_path, Registration.WATCHER) as journal:
            await until(lambda: len(journal.told("served anew")) == 3)
            assert len(ours(short_path)) <= 1

    asyncio.run(story())


@pytest.mark.parametrize("way", [Registration.WATCHER, Registration.CLASSIC])
def test_without_a_living_kubelet_there_is_nobody_to_tell(way: Registration, short_path: Path) -> None:
    async def story() -> None:
        watcher = way is Registration.WATCHER
        timing = Timing(reconcile=0.02)
        async with (
            serving(short_path, way) as journal,
            FakeKubelet(short_path, watcher=watcher, timing=timing) as kubelet,
        ):
            await kubelet.wait_registered(str(P), 60)
            await kubelet.kill()
            await asyncio.sleep(PATIENCE * 4)
            assert journal.told("served anew") == []
            await kubelet.boot()
            await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (4, 4), 60)

    asyncio.run(story())


def drop(kubelet: FakeKubelet) -> None:
    """The kubelet gives the connection up; the plugin's server lives on."""
    process = kubelet._process
    assert process is not None
    socket = kubelet.calls_of("ListAndWatch", str(P))[-1].socket
    process._registrations.disconnect(str(P), socket)


def ours(directory: Path) -> list[Path]:
    return [p for p in directory.glob("*/intel.com_p*") if p.is_socket()]

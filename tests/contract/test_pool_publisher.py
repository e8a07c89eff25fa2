"""Ports PoolPublisher and DeviceUse: the fakes and the kubelet adapter alike, the latter over real sockets."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest

from adapters.kubelet.publisher import KubeletPaths, KubeletPublisher, Registration
from application.ports.kubelet import PoolPublisher
from domain.announcement import Announced
from domain.exposure import Grant
from domain.resource_name import ResourceName
from tests.fakes.journal import FakeJournal
from tests.fakes.kubelet import EAGER, FakeKubelet
from tests.fakes.pool_publisher import FakePoolPublisher

P = ResourceName("intel.com", "p")
Q = ResourceName("intel.com", "q")
FOUR = tuple(Announced(f"0000:3b:01.{i}", 1) for i in range(4))

Counts = Callable[[ResourceName, int, int], Awaitable[None]]
Scene = tuple[PoolPublisher, Counts]


async def _grants(resource: ResourceName, containers: object) -> list[Grant]:
    return [Grant({"IDS": str(resource)}, ()) for _ in containers]  # type: ignore[attr-defined]


@asynccontextmanager
async def scene(kind: str, directory: Path) -> AsyncIterator[Scene]:
    """A publisher, and a way to wait until the kubelet has so many devices and so many healthy ones."""
    if kind == "memory":
        fake = FakePoolPublisher()

        async def counts(resource: ResourceName, capacity: int, allocatable: int) -> None:
            entries = fake.lists[resource]
            assert (len(entries), sum(e.fault is None for e in entries)) == (capacity, allocatable)

        yield fake, counts
        return
    async with FakeKubelet(directory, timing=EAGER, watcher=kind == "watcher") as kubelet:
        publisher = KubeletPublisher(KubeletPaths(directory, directory), Registration.AUTO, _grants, FakeJournal())

        async def seen(resource: ResourceName, capacity: int, allocatable: int) -> None:
            await kubelet.wait_for(lambda: kubelet.counts(str(resource)) == (capacity, allocatable), 60.0)

        try:
            yield publisher, seen
        finally:
            await publisher.stop()


@pytest.fixture(params=["memory", "watcher", "classic"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_published_pool_is_the_kubelets(kind: str, short_path: Path) -> None:
    async def story() -> None:
        async with scene(kind, short_path) as (publisher, counts):
            await publisher.publish(P, FOUR)
            await publisher.publish(Q, FOUR[:1])
            await counts(P, 4, 4)
            await counts(Q, 1, 1)

    asyncio.run(story())


def test_a_later_list_replaces_the_one_before(kind: str, short_path: Path) -> None:
    async def story() -> None:
        async with scene(kind, short_path) as (publisher, counts):
            await publisher.publish(P, FOUR)
            await counts(P, 4, 4)
            await publisher.publish(P, (*FOUR[:3], Announced(FOUR[3].id, 1, "gone")))
            await counts(P, 4, 3)
            await publisher.publish(P, FOUR[:2])
            await counts(P, 2, 2)

    asyncio.run(story())


def test_a_watchers_directory_that_may_not_be_looked_at_is_waited_for_and_named(short_path: Path) -> None:
    """Case H05. A name too long stands for whatever fails there as root, too: a stale mount, an error of the disk."""

    async def story() -> None:
        registry = short_path / "plugins_registry"
        registry.symlink_to("x" * 300)
        journal = FakeJournal()
        publisher = KubeletPublisher(KubeletPaths(short_path, short_path), Registration.AUTO, _grants, journal)
        try:
            await publisher.publish(P, FOUR)
            async with asyncio.timeout(60.0):
                while not journal.told("not served yet"):
                    await asyncio.sleep(0.02)
            (told,) = journal.told("not served yet")
            assert str(registry) in str(told["reason"])
            registry.unlink()
            async with FakeKubelet(short_path, timing=EAGER) as kubelet:
                await kubelet.wait_registered(str(P), 60.0)
        finally:
            await publisher.stop()

    asyncio.run(story())


def test_what_another_process_serves_is_told_and_neither_what_is_served_here_nor_by_nobody(short_path: Path) -> None:
    q, marked = "intel.com_q.sock", "intel.com_r-0061234567890.sock"
    (short_path / "plugins_registry").mkdir()
    (short_path / "device-plugins").mkdir()

    async def story() -> None:
        async with scene("watcher", short_path) as (publisher, counts):
            await publisher.publish(P, FOUR)
            await counts(P, 4, 4)
            with ExitStack() as stack:
                for path in (f"plugins_registry/{q}", f"device-plugins/{marked}", "plugins_registry/driver.sock"):
                    other = stack.enter_context(socket.socket(socket.AF_UNIX))
                    other.bind(str(short_path / path))
                    other.listen()
                assert set(await publisher.neighbours()) == {Q, ResourceName("intel.com", "r")}
            assert set(await publisher.neighbours()) == set()

    asyncio.run(story())

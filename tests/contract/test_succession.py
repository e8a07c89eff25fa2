"""Two publishers that want to serve one pool; the first only drains it, or not."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from adapters.kubelet.publisher import KubeletPaths, KubeletPublisher, Registration
from domain.announcement import Announced
from domain.exposure import Grant
from domain.resource_name import ResourceName
from tests.fakes.journal import FakeJournal
from tests.fakes.kubelet import EAGER, FakeKubelet

P = ResourceName("intel.com", "p")
HELD = (Announced("0000:3b:01.0", fault="gone"),)
WHOLE = (Announced("0000:3b:01.0"), Announced("0000:3b:01.1"))
WAYS = pytest.mark.parametrize("watcher", [True, False])


async def _grants(resource: ResourceName, containers: Sequence[object]) -> list[Grant]:
    return [Grant({}) for _ in containers]


class Publisher(KubeletPublisher):
    """One that drains, or does not, and counts how often it was asked which."""

    def __init__(self, directory: Path, *, drains: bool) -> None:
        self.journal = FakeJournal()
        self.drains = drains
        self.asked = 0
        paths = KubeletPaths(directory, directory)
        super().__init__(paths, Registration.AUTO, _grants, self.journal, self._answer)

    def _answer(self, _: ResourceName) -> bool:
        self.asked += 1
        return not self.drains

    def reasons(self) -> str:
        return " ".join(told["reason"] for told in self.journal.told("not served yet"))


@asynccontextmanager
async def node(directory: Path, *, watcher: bool, drains: bool) -> AsyncIterator[tuple[FakeKubelet, Publisher]]:
    """A pool that is served."""
    async with FakeKubelet(directory, timing=EAGER, watcher=watcher) as kubelet:
        first = Publisher(directory, drains=drains)
        try:
            await first.publish(P, HELD)
            await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (1, 0), 60)
            yield kubelet, first
        finally:
            await first.stop()


@WAYS
def test_a_pool_that_drains_is_left_to_the_process_that_waits_for_it_and_drains_on_when_that_has_ended(
    watcher: bool, short_path: Path
) -> None:
    async def story() -> None:
        async with node(short_path, watcher=watcher, drains=True) as (kubelet, first):
            second = Publisher(short_path, drains=False)
            await second.publish(P, WHOLE)
            await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (2, 2), 60)
            await kubelet.wait_for(lambda: "left to that one" in first.reasons(), 60)
            assert first.unheard() == {P: None}
            await second.stop()
            await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (1, 0), 60)

    asyncio.run(story())


@WAYS
def test_a_new_process_that_drains_a_pool_takes_over_when_the_old_one_ends(watcher: bool, short_path: Path) -> None:
    """A rolling update with a surge: both only drain it, and containers of its pods may be restarted later."""

    async def story() -> None:
        async with node(short_path, watcher=watcher, drains=True) as (kubelet, first):
            second = Publisher(short_path, drains=True)
            await second.publish(P, HELD)
            await kubelet.wait_for(lambda: "left to that one" in second.reasons(), 60)
            assert len(first.journal.told("serving")) == 1
            await first.stop()
            await kubelet.wait_for(lambda: len(second.journal.told("kubelet listens")) == 1, 60)
            await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (1, 0), 60)
            await second.stop()

    asyncio.run(story())


@WAYS
def test_a_pool_of_the_configuration_is_kept_whoever_waits_for_it(watcher: bool, short_path: Path) -> None:
    async def story() -> None:
        async with node(short_path, watcher=watcher, drains=False) as (kubelet, first):
            second = Publisher(short_path, drains=False)
            await second.publish(P, WHOLE)
            await kubelet.wait_for(lambda: first.asked >= 3, 60)
            assert "belongs to process" in second.reasons()
            await second.stop()
            assert len(first.journal.told("serving")) == 1
            assert kubelet.counts(str(P)) == (1, 0)

    asyncio.run(story())


def test_something_that_is_no_server_is_no_reason_to_leave_a_pool(short_path: Path) -> None:
    async def story() -> None:
        registry = short_path / "plugins_registry"
        registry.mkdir()
        path = registry / "intel.com_p.sock"
        path.write_text("", encoding="utf-8")
        draining = Publisher(short_path, drains=True)
        async with FakeKubelet(short_path, timing=EAGER) as kubelet:
            await draining.publish(P, HELD)
            await kubelet.wait_for(lambda: "no socket" in draining.reasons(), 60)
            path.unlink()
            await kubelet.wait_for(lambda: kubelet.counts(str(P)) == (1, 0), 60)
            await draining.stop()

    asyncio.run(story())

"""A pool's server that is stopped while it starts."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from adapters.kubelet.feed import Feed
from adapters.kubelet.instance import Instance
from adapters.kubelet.service import PoolService
from domain.exposure import Grant
from domain.resource_name import ResourceName
from tests.fakes.journal import FakeJournal

P = ResourceName("intel.com", "p")


async def _grants(resource: ResourceName, containers: Sequence[object]) -> list[Grant]:
    return [Grant({}) for _ in containers]


def test_a_server_can_be_stopped_whenever_its_start_was_cancelled_and_leaves_no_file(short_path: Path) -> None:
    """Case I08: else the pool's task ends with a traceback when the daemon is told to stop."""

    async def start_or_stop(instance: Instance) -> None:
        try:
            await instance.start()
        except asyncio.CancelledError:
            await instance.stop()
            raise

    async def story() -> None:
        for turns in range(1, 100):
            instance = Instance(short_path / "p.sock", PoolService(P, Feed(()), _grants, FakeJournal()), None)
            starting = asyncio.create_task(start_or_stop(instance))
            for _ in range(turns):
                await asyncio.sleep(0)
            if not starting.cancel():
                await instance.stop()  # it had started
                return
            await asyncio.wait({starting})
            assert starting.cancelled(), f"after {turns} turns of the loop: {starting.exception()!r}"
            assert os.listdir(short_path) == []  # noqa: PTH208

    asyncio.run(story())

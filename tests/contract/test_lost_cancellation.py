"""A stop that comes in the middle of a pool's being served anew.

asyncio.wait_for of Python 3.11 loses a cancellation that comes together with what it waits for, and grpc.aio waits by
it when a server stops with a grace. Here the loss is certain.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from pytest_mock import MockerFixture

from adapters.kubelet.instance import Instance
from adapters.kubelet.publisher import KubeletPaths, KubeletPublisher, Registration
from domain.announcement import Announced
from domain.exposure import Grant
from domain.resource_name import ResourceName
from tests.fakes.journal import FakeJournal
from tests.fakes.kubelet import FakeKubelet

P = ResourceName("intel.com", "p")


async def _grants(resource: ResourceName, containers: Sequence[object]) -> list[Grant]:
    return [Grant({}) for _ in containers]


def test_a_stop_whose_cancellation_is_lost_while_a_server_ends_is_a_stop(
    mocker: MockerFixture, short_path: Path
) -> None:
    """Case I08."""
    ending = asyncio.Event()
    stop = Instance.stop

    async def deaf(instance: Instance, *grace: float | None) -> None:
        ending.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await stop(instance, *grace)

    async def story() -> None:
        async with FakeKubelet(short_path, watcher=False) as kubelet:
            publisher = KubeletPublisher(
                KubeletPaths(short_path, short_path), Registration.CLASSIC, _grants, FakeJournal()
            )
            await publisher.publish(P, [Announced("0000:3b:01.0")])
            await kubelet.wait_registered(str(P))
            mocker.patch.object(Instance, "stop", deaf)
            kubelet.calls_of("ListAndWatch")[-1].socket.unlink()
            await ending.wait()
            mocker.patch.object(Instance, "stop", stop)
            stopping = asyncio.create_task(publisher.stop())
            done, _ = await asyncio.wait({stopping}, timeout=3)
            if not done:
                await publisher.stop()
            assert done

    asyncio.run(story())

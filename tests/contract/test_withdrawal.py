"""The last list of a pool that goes."""

import asyncio
from pathlib import Path
from typing import Final

import grpc
import pytest

from adapters.kubelet.feed import Feed
from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub
from tests.contract.pool_plugin import ENTRIES, P, Plugin, plugin, until
from tests.fakes.kubelet import FakeKubelet

_LISTENERS: Final = 10


def test_streams_end_behind_the_empty_list() -> None:
    async def story() -> None:
        feed = Feed(ENTRIES)

        async def stream() -> list[int]:
            return [len(message.devices) async for message in feed.messages()]

        streams = [asyncio.create_task(stream()) for _ in range(3)]
        await asyncio.sleep(0)
        await feed.end(within=20)
        assert [await s for s in streams] == [[3, 0]] * 3

    asyncio.run(story())


def test_a_stream_of_an_empty_pool_ends_too() -> None:
    async def story() -> None:
        feed = Feed(())
        stream = aiter(feed.messages())
        assert not (await anext(stream)).devices
        rest = asyncio.create_task(anext(stream, None))
        await asyncio.sleep(0)
        await feed.end(within=20)
        assert await rest is None

    asyncio.run(story())


def test_a_kubelet_that_takes_nothing_does_not_hold_it_up() -> None:
    async def story() -> None:
        feed = Feed(ENTRIES)
        slow = aiter(feed.messages())
        await anext(slow)
        await feed.end(within=0.01)

    asyncio.run(story())


@pytest.mark.parametrize("way", ["watcher", "classic"])
def test_who_listens_gets_the_empty_list_before_the_socket_goes(way: str, short_path: Path) -> None:
    """Case A10: ten listeners of each server."""

    async def story() -> None:
        async with (
            FakeKubelet(short_path, watcher=way == "watcher") as kubelet,
            plugin(short_path) as under_test,
        ):
            for _ in range(5):
                await under_test.publisher.publish(P, ENTRIES)
                await until(lambda: listening(under_test) == 1)
                path = kubelet.calls_of("ListAndWatch", str(P))[-1].socket
                listeners = [asyncio.create_task(_listen(path)) for _ in range(_LISTENERS)]
                await until(lambda: listening(under_test) == 1 + _LISTENERS)
                await under_test.publisher.withdraw(P)
                for listener in listeners:
                    assert await listener == [3, 0]
                assert not path.exists()
                await until(lambda: kubelet.messages(str(P))[-1].devices == ())

    asyncio.run(story())


def listening(plugin: Plugin) -> int:
    """How many streams are open."""
    return len(plugin.journal.told("kubelet listens")) - len(plugin.journal.told("kubelet stopped listening"))


async def _listen(path: Path) -> list[int]:
    async with grpc.aio.insecure_channel(f"unix:{path}") as channel:
        return [len(message.devices) async for message in DevicePluginStub(channel).ListAndWatch(pb.Empty())]

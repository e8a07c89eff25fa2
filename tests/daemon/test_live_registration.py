"""Sockets, registrations and streams that come and go under a running daemon."""

import asyncio
import socket
from typing import Any

import grpc
import pytest

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub
from tests.daemon.live import CLASSIC, DPDK, IDS, KERN, WATCHER, WITHIN, Quiet, live, name
from tests.hosts.named import demo, h1

WAYS = pytest.mark.parametrize("way", [WATCHER, CLASSIC])


@WAYS
def test_a_removed_socket_is_there_again_and_the_other_pool_has_not_noticed(way: str) -> None:
    """Case A01."""

    async def story() -> None:
        async with live(demo(), KERN, DPDK, way=way) as node:
            await node.start()
            await node.served("kern", 8)
            await node.served("dpdk", 8)
            path, others = node.socket("kern"), node.streams("dpdk")
            path.unlink()
            await node.until(lambda: node.streams("kern") == 2)
            await node.served("kern", 8)
            assert len(node.lists("kern")[-1].devices) == 8
            assert node.socket("kern").is_socket()
            assert (node.socket("kern") == path) is (way == WATCHER)
            assert (node.streams("dpdk"), len(node.lists("dpdk"))) == (others, 1)
            assert len(node.sockets()) == 2

    asyncio.run(story())

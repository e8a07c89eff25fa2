"""The kubelet's part in a start: find each pool's socket and take its first list."""

import asyncio
import os
from pathlib import Path
from typing import Final

import grpc

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub

#: A channel to a path may not inherit the connection of the last run to it.
OPTIONS: Final = (("grpc.use_local_subchannel_pool", 1),)
_LOOK_EVERY: Final = 0.002


async def first_lists(sockets: Path, pools: int, within: float = 120.0) -> dict[str, list[str]]:
    """The device ids of each pool by its socket's name, once the last pool has sent its list."""
    async with asyncio.timeout(within), asyncio.TaskGroup() as tasks:
        lists: dict[str, asyncio.Task[list[str]]] = {}
        while len(lists) < pools:
            for name in os.listdir(sockets):  # noqa: PTH208 - hundreds of times a second
                if not name.startswith(".") and name not in lists:
                    lists[name] = tasks.create_task(_first_list(sockets / name))
            await asyncio.sleep(_LOOK_EVERY)
    return {name: task.result() for name, task in lists.items()}


async def _first_list(socket: Path) -> list[str]:
    async with grpc.aio.insecure_channel(f"unix:{socket}", options=OPTIONS) as channel:
        async for message in DevicePluginStub(channel).ListAndWatch(pb.Empty()):
            return [device.ID for device in message.devices]
    raise RuntimeError(f"{socket}: no list")

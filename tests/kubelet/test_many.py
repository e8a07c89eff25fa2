"""A thousand devices in sixteen pools, and four thousand in one."""

import asyncio
import time
from pathlib import Path
from typing import Final

import grpc

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub
from tests.fakes.kubelet_harness import KubeletHarness
from tests.hosts.scale import scale
from tests.kubelet.scene import node, until_allocatable

MESSAGE_LIMIT: Final = 4 << 20
"""Bytes that the kubelet takes in one message (facts/kubelet.md 2)."""
SECONDS: Final = 5.0


def test_1024_devices_in_16_pools(binary: Path, way: str) -> None:
    names = [f"p{pf}#{first}-{first + 63}" for pf in range(8) for first in (0, 64)]
    pools = tuple({"resourceName": f"r{n}", "selectors": {"pfNames": [name]}} for n, name in enumerate(names))

    async def run() -> None:
        with node(scale(8, 128), pools) as here:
            async with KubeletHarness(binary, here.directory) as kubelet:
                began = time.monotonic()
                async with here.daemon(way):
                    whole = {f"intel.com/r{n}": 64 for n in range(16)}
                    await until_allocatable(kubelet, whole, 60)
                    start = time.monotonic() - began
                    assert max(await sizes(here.sockets(way))) < MESSAGE_LIMIT
                    for number in range(16):
                        admitted = await kubelet.admit(f"pod{number}", {f"intel.com/r{number}": 4})
                        assert admitted.admitted, admitted.message
                    times = []
                    for _ in range(3):
                        began = time.monotonic()
                        readmitted = await kubelet.restart()
                        assert all(pod.admitted for pod in readmitted.values())
                        await until_allocatable(kubelet, whole)
                        times.append(time.monotonic() - began)
                    assert min(times) < SECONDS, times
                    print(f"1,024 devices: visible after {start:.1f} s, again after {min(times):.1f} s of a restart")

    asyncio.run(run())


def test_4096_devices_in_one_pool_fit_into_a_message(binary: Path, way: str) -> None:
    """All functions of a node are far from the limit, so no configuration has to be refused for its size."""

    async def run() -> None:
        pool = {"resourceName": "all", "selectors": {"drivers": ["vfio-pci"]}}
        with node(scale(16, 256), (pool,)) as here:
            async with KubeletHarness(binary, here.directory) as kubelet, here.daemon(way):
                await until_allocatable(kubelet, {"intel.com/all": 4096}, 60)
                (size,) = await sizes(here.sockets(way))
                assert size < MESSAGE_LIMIT / 20
                admitted = await kubelet.admit("pod", {"intel.com/all": 16})
                assert admitted.admitted, admitted.message
                began = time.monotonic()
                await kubelet.restart()
                await until_allocatable(kubelet, {"intel.com/all": 4096})
                print(f"4,096 devices: {size} bytes, again after {time.monotonic() - began:.1f} s of a restart")

    asyncio.run(run())


async def sizes(sockets: list[Path]) -> list[int]:
    """Bytes of each pool's list."""
    found = []
    for socket in sockets:
        async with grpc.aio.insecure_channel(f"unix:{socket}") as channel:
            async for message in DevicePluginStub(channel).ListAndWatch(pb.Empty()):
                found.append(message.ByteSize())
                break
    return found

"""A host with a bit of everything beside a plain one of the same size: start, Allocate of RDMA devices, memory."""

import asyncio
import time
from collections.abc import Iterator
from typing import Final

import grpc

from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub
from tests.bench.allocate import milliseconds_of
from tests.bench.bed import Bed, bed, bed_of
from tests.bench.daemon import Program, running
from tests.bench.figure import Figure, percentile
from tests.bench.lists import OPTIONS, first_lists
from tests.bench.start import start
from tests.bench.usage import megabytes
from tests.hosts.everything import SUBFUNCTIONS, VFS, everything, pools

SECTION: Final = "everything"
_RDMA: Final = "intel.com_rdma-r0.sock"
_SETTLED_AFTER: Final = 0.5
_SMALL: Final = 16


def measure(program: Program, *, quick: bool) -> Iterator[Figure]:
    repeat, calls = (3, 50) if quick else (7, 150)
    with bed(_SMALL, len(pools())) as node:
        small = [_memory(program, node) for _ in range(repeat)]
    with bed(VFS, len(pools())) as node:
        start(program, node)
        plain = [start(program, node).served for _ in range(repeat)]
    with bed_of(everything(), pools(), VFS + SUBFUNCTIONS) as node:
        start(program, node)
        yield Figure(SECTION, "1024 VFs on vfio-pci, 16 pools: start", "s", plain)
        whole = [start(program, node).served for _ in range(repeat)]
        yield Figure(SECTION, "1024 VFs of all kinds, 256 subfunctions, 16 pools: start", "s", whole)
        yield Figure(SECTION, "that in times the plain host's", "", [min(whole) / min(plain)])
        grown = [_memory(program, node) - min(small) for _ in range(repeat)]
        yield Figure(SECTION, "memory a device", "kB", [mb * 1000 / (VFS + SUBFUNCTIONS - _SMALL) for mb in grown])
        yield Figure(SECTION, "Allocate of 16 RDMA devices, p50", "ms", _allocate(program, node, repeat, calls))


def _memory(program: Program, node: Bed) -> float:
    node.clear()
    with running(program, node) as process:
        asyncio.run(first_lists(node.sockets, node.pools))
        time.sleep(_SETTLED_AFTER)
        return megabytes(process, "RssAnon")


def _allocate(program: Program, node: Bed, rounds: int, calls: int) -> list[float]:
    node.clear()
    with running(program, node):
        ids = asyncio.run(first_lists(node.sockets, node.pools))[_RDMA]
        with grpc.insecure_channel(f"unix:{node.sockets / _RDMA}", options=OPTIONS) as channel:
            stub = DevicePluginStub(channel)
            return [percentile(milliseconds_of(stub, ids[:16], calls), 50) for _ in range(rounds)]

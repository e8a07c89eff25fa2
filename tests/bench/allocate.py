"""Allocate over the pool's socket, beside a call that does nothing: the floor of gRPC and of this client."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import grpc

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub
from tests.bench.bed import bed
from tests.bench.daemon import Program, running
from tests.bench.figure import Figure, percentile
from tests.bench.lists import OPTIONS, first_lists

SECTION: Final = "allocate"
_DEVICES: Final = (1, 16, 64)
_HOSTS: Final = (256, 4096)
_WARM_UP: Final = 20
_PERCENT: Final = (50, 99)


def measure(program: Program, *, quick: bool) -> Iterator[Figure]:
    rounds, calls = (3, 50) if quick else (7, 150)
    for vfs in _HOSTS[:1] if quick else _HOSTS:
        suffix = "" if vfs == _HOSTS[0] else f", of {vfs}"
        with bed(vfs) as node, running(program, node):
            ((name, ids),) = asyncio.run(first_lists(node.sockets, 1)).items()
            with grpc.insecure_channel(f"unix:{node.sockets / name}", options=OPTIONS) as channel:
                stub = DevicePluginStub(channel)
                empty: list[list[float]] = []
                for number in _DEVICES:
                    runs = [_round(stub, ids[:: len(ids) // number][:number], calls) for _ in range(rounds)]
                    what = f"{number} device{'s' if number > 1 else ''}{suffix}"
                    yield from _figures(what, [own for own, _ in runs])
                    empty += [nothing for _, nothing in runs]
        yield from _figures(f"empty call{suffix}", empty)


def milliseconds_of(stub: DevicePluginStub, ids: Sequence[str], calls: int) -> list[float]:
    """Milliseconds of each call for these devices."""
    return _round(stub, ids, calls)[0]


def _round(stub: DevicePluginStub, ids: Sequence[str], calls: int) -> tuple[list[float], list[float]]:
    """Milliseconds of calls for these devices, and of empty ones between them."""
    request = pb.AllocateRequest(container_requests=[pb.ContainerAllocateRequest(devices_ids=ids)])
    for _ in range(_WARM_UP):
        stub.Allocate(request)
    pairs = [
        (_milliseconds(stub.Allocate, request), _milliseconds(stub.GetDevicePluginOptions, pb.Empty()))
        for _ in range(calls)
    ]
    return [own for own, _ in pairs], [nothing for _, nothing in pairs]


def _milliseconds(call: Callable[[Any], object], request: object) -> float:
    begin = time.perf_counter()
    call(request)
    return (time.perf_counter() - begin) * 1000


def _figures(what: str, rounds: Sequence[Sequence[float]]) -> Iterator[Figure]:
    for percent in _PERCENT:
        yield Figure(SECTION, f"{what}, p{percent}", "ms", [percentile(times, percent) for times in rounds])

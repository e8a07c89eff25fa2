"""From exec to served: the first list of the last pool has arrived at the kubelet's side."""

import asyncio
import time
from collections.abc import Iterator
from typing import Final

from tests.bench.bed import Bed, bed
from tests.bench.daemon import Program, running
from tests.bench.figure import Figure
from tests.bench.lists import first_lists

SECTION: Final = "start"
_POOLS: Final = {16: (1,), 256: (1, 8), 1024: (1, 8, 32), 4096: (1, 8, 32)}
_QUICK: Final = {16: (1,), 1024: (1, 8)}


def measure(program: Program, *, quick: bool) -> Iterator[Figure]:
    repeat = 3 if quick else 7
    for vfs, numbers in (_QUICK if quick else _POOLS).items():
        with bed(vfs) as node:
            seconds(program, node)  # compiles, and warms the caches of the system
            for pools in numbers:
                configured = node.configure(pools)
                runs = [seconds(program, configured) for _ in range(repeat)]
                yield Figure(SECTION, f"{vfs} VFs, {pools} pool{'s' if pools > 1 else ''}", "s", runs)
            again = [seconds(program, node.configure(1), first=False) for _ in range(repeat)]
            yield Figure(SECTION, f"{vfs} VFs, 1 pool, again", "s", again[1:])


def seconds(program: Program, node: Bed, *, first: bool = True) -> float:
    """One start; the first since boot, or one that finds what the last one left."""
    if first:
        node.clear()
    begin = time.monotonic()
    with running(program, node):
        lists = asyncio.run(first_lists(node.sockets, node.pools))
        end = time.monotonic()
    served = sum(map(len, lists.values()))
    if served != node.vfs:
        raise RuntimeError(f"{served} devices served, expected {node.vfs}")
    return end - begin

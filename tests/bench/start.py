"""From exec to served: the first list of the last pool has arrived at the kubelet's side."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.bench.bed import Bed, bed
from tests.bench.daemon import Program, running
from tests.bench.figure import Figure
from tests.bench.lists import first_lists
from tests.bench.usage import cpu_seconds

SECTION: Final = "start"
_POOLS: Final = {16: (1,), 256: (1, 8), 1024: (1, 8, 32), 4096: (1, 8, 32)}
_QUICK: Final = {16: (1,), 1024: (1, 8)}


@dataclass(frozen=True, slots=True)
class Start:
    """One start, in seconds."""

    served: float
    cpu: float
    """What the daemon used of a CPU until then: does not depend on who else uses the machine."""


def measure(program: Program, *, quick: bool) -> Iterator[Figure]:
    repeat = 3 if quick else 7
    for vfs, numbers in (_QUICK if quick else _POOLS).items():
        with bed(vfs) as node:
            start(program, node)  # compiles, and warms the caches of the system
            for pools in numbers:
                configured = node.configure(pools)
                name = f"{vfs} VFs, {pools} pool{'s' if pools > 1 else ''}"
                yield from _figures(name, [start(program, configured) for _ in range(repeat)])
            configured = node.configure(1)
            start(program, configured)
            yield from _figures(
                f"{vfs} VFs, 1 pool, again", [start(program, configured, first=False) for _ in range(repeat)]
            )


def start(program: Program, node: Bed, *, first: bool = True) -> Start:
    """One start; the first since boot, or one that finds what the last one left."""
    if first:
        node.clear()
    begin = time.monotonic()
    with running(program, node) as process:
        lists = asyncio.run(first_lists(node.sockets, node.pools))
        done = Start(time.monotonic() - begin, cpu_seconds(process))
    served = sum(map(len, lists.values()))
    if served != node.vfs:
        raise RuntimeError(f"{served} devices served, expected {node.vfs}")
    return done


def _figures(name: str, starts: list[Start]) -> Iterator[Figure]:
    yield Figure(SECTION, name, "s", [one.served for one in starts])
    yield Figure(SECTION, f"{name}: CPU", "s", [one.cpu for one in starts])

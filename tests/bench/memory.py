"""Memory of a daemon that serves."""

import asyncio
import time
from collections.abc import Iterator
from typing import Final

from tests.bench.bed import bed
from tests.bench.daemon import Program, running
from tests.bench.figure import Figure
from tests.bench.lists import first_lists
from tests.bench.usage import megabytes

SECTION: Final = "memory"
_SETTLED_AFTER: Final = 0.5
_KINDS: Final = ("VmRSS", "RssAnon")


def measure(program: Program, *, quick: bool) -> Iterator[Figure]:
    for vfs in (16, 4096):
        with bed(vfs) as node:
            samples: dict[str, list[float]] = {kind: [] for kind in _KINDS}
            for _ in range(1 if quick else 3):
                node.clear()
                with running(program, node) as process:
                    asyncio.run(first_lists(node.sockets, node.pools))
                    time.sleep(_SETTLED_AFTER)
                    for kind in _KINDS:
                        samples[kind].append(megabytes(process, kind))
        yield from (Figure(SECTION, f"{vfs} VFs, {kind}", "MB", values) for kind, values in samples.items())

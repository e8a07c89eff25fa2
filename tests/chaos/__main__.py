"""python -m tests.chaos [--seconds 600] [--seed N]: faults at random under a real daemon before a real kubelet.

Half of the time the kubelet finds pools by its plugin watcher, the other half they register the classic way. The same
seed makes the same choices, as far as the node comes to the same states. Exit code 1, with the last steps and the seed,
if an invariant did not hold.
"""

import argparse
import asyncio
import os
import random
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic
from typing import Final

from tests.chaos.clock import library
from tests.chaos.disk import enter_own_mounts
from tests.chaos.node import Node
from tests.chaos.pods import Pods
from tests.chaos.storm import Record, Storms
from tests.hosts.ground import temporary_directory
from tests.model.broken import Broken
from tests.model.pools import KINDS, NAMES, Pool
from tests.model.setup import WAYS, Setup, Way

_STEPS_SHOWN: Final = 60
_SHAPE: Final = (3, 3)
_POOLS: Final = (
    (Pool(NAMES[0], KINDS[0]), Pool(NAMES[1], KINDS[1])),
    (Pool(NAMES[0], KINDS[2]), Pool(NAMES[2], KINDS[5]), Pool(NAMES[3], KINDS[6])),
    (Pool(NAMES[1], KINDS[4]), Pool(NAMES[3], KINDS[0])),
)
_ONE_LIFE: Final = 150.0
"""Seconds after which a node makes way for one of another shape."""
_SLOW: Final = 5.0
"""Seconds after which one would like to know what was waited for."""
_ROW: Final = "  {:38}{:>7}{:>10}{:>14}{:>13}"


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing is left running
    unmountable = enter_own_mounts(sys.argv[1:]) if options.mounts else "asked for without"
    record = Record()
    print(f"seed {options.seed}: {options.seconds:g} seconds", flush=True)
    if unmountable:
        print(f"not done: full and read-only disk ({unmountable})")
    if not library():
        print("not done: jumps of the wall clock (libfaketime is not installed)")
    sys.stdout.flush()
    began = monotonic()
    for number, (way, seconds) in enumerate(_lives(options.seconds)):
        try:
            asyncio.run(_live(way, seconds, f"{options.seed} {number}", record, mountable=not unmountable))
        except Broken as broken:
            print(*_lines(record), sep="\n")
            print(f"\nseed {options.seed}, node {number}, {way}, after {monotonic() - began:.0f} s:")
            print(broken.last(_STEPS_SHOWN))
            return 1
    print(*_lines(record), f"  {monotonic() - began:.0f} seconds in all", sep="\n", flush=True)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("SRIOVDP_CHAOS_SECONDS", "600")))
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))  # noqa: S311 - no secret
    parser.add_argument("--no-mounts", dest="mounts", action="store_false")
    return parser.parse_args()


def _lives(seconds: float) -> Iterator[tuple[Way, float]]:
    """Both ways for as long, in turns."""
    turns = max(1, round(seconds / _ONE_LIFE / len(WAYS)))
    for _ in range(turns):
        yield from ((way, seconds / turns / len(WAYS)) for way in WAYS)


async def _live(way: Way, seconds: float, seed: str, record: Record, *, mountable: bool) -> None:
    chance = random.Random(seed)  # noqa: S311 - a storm is to be had again
    with temporary_directory() as directory:
        setup = Setup(_SHAPE, chance.choice(_POOLS), way, config_map=chance.random() < 1 / 2)
        node = Node(directory, setup, chance, mountable=mountable)
        pods = Pods(node, random.Random(f"{seed} pods"), record.counts)  # noqa: S311 - as above
        try:
            await node.open()
            print(f"  {node.version}, {way}, {setup.pools}", flush=True)
            traffic = asyncio.create_task(pods.run())
            storms = asyncio.create_task(Storms(node, pods, chance, record).go(monotonic() + seconds))
            try:
                await asyncio.wait((traffic, storms), return_when=asyncio.FIRST_COMPLETED)
                for task in (traffic, storms):
                    if task.done():
                        task.result()
            finally:
                for task in (traffic, storms):
                    task.cancel()
                await asyncio.gather(traffic, storms, return_exceptions=True)
        finally:
            record.counts["daemon starts"] += node.daemon.starts
            with suppress(ProcessLookupError):
                await node.close()


def _lines(record: Record) -> Iterator[str]:
    yield ""
    yield _ROW.format("fault", "times", "survived", "order alone s", "or in a mix")
    for name, entry in sorted(record.faults.items()):
        yield _ROW.format(name, entry.times, entry.times, f"{entry.alone:.1f}", f"{entry.longest:.1f}")
    slowest = sorted(((e.longest, e.waited_for) for e in record.faults.values() if e.longest > _SLOW), reverse=True)
    for seconds, waited_for in dict.fromkeys(slowest):
        yield f"  waited for {seconds:.1f} s: {waited_for}"
    for name, number in sorted(record.counts.items()):
        yield f"  {name:38}{number:7}"
    if record.most:
        yield f"  {'largest process at rest':38}{record.most.rss:7.1f} MB, {record.most.files} files"


if __name__ == "__main__":
    sys.exit(main())

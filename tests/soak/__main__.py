"""python -m tests.soak [--minutes 10] [--steps 5000] [--seed N]: random changes under a daemon process.

Half of the time the kubelet finds pools by its plugin watcher, the other half they register the classic way.
Exit code 1, with the last steps and the seed, if an invariant did not hold.
"""

import argparse
import asyncio
import random
import sys
from time import monotonic
from typing import Final

from tests.hosts.ground import temporary_directory
from tests.model.broken import Broken
from tests.model.node import Node
from tests.model.settling import settle
from tests.model.setup import WAYS, Way
from tests.soak import report
from tests.soak.process_daemon import ProcessDaemon
from tests.soak.report import Sample
from tests.soak.restarts import restart_often
from tests.soak.walk import Tally, Walk, setup

_STEPS_SHOWN: Final = 20
_SAMPLE_EVERY: Final = 60.0
_WARM_UP: Final = 50
_MOST_GROWTH: Final = 2.0
"""MB, in all restarts of the kubelet."""


def main() -> int:
    options = _options()
    tally, samples = Tally(), list[Sample]()
    print(f"seed {options.seed}: {options.steps} steps or {options.minutes:g} minutes", flush=True)
    try:
        for way in WAYS:
            asyncio.run(_live(way, options, tally, samples))
    except Broken as broken:
        print(f"\nseed {options.seed}, {sum(tally.steps.values())} steps:\n{broken.last(_STEPS_SHOWN)}")
        return 1
    print("", *report.lines(tally, samples), "", sep="\n", flush=True)
    return max(_restarts(way, options.restarts) for way in WAYS)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))  # noqa: S311 - no secret
    parser.add_argument("--restarts", type=int, default=500, help="of the kubelet, each way")
    return parser.parse_args()


async def _live(way: Way, options: argparse.Namespace, tally: Tally, samples: list[Sample]) -> None:
    chance = random.Random(f"{options.seed} {way}")  # noqa: S311 - a soak wants it again
    until = monotonic() + options.minutes * 60 / len(WAYS)
    with temporary_directory() as directory:
        daemons: list[ProcessDaemon] = []

        def make_daemon(*places: Any) -> ProcessDaemon:
            daemons.append(ProcessDaemon(*places))
            return daemons[0]

        node = Node(directory, setup(chance, way), make_daemon)
        await node.open()
        try:
            await settle(node)
            sampling = asyncio.create_task(_sample(way, daemons[0], samples))
            await Walk(node, chance, tally).go(options.steps // len(WAYS), until)
            sampling.cancel()
            _note(f"{way}, end", daemons[0], samples)
        finally:
            tally.messages += node.witness.messages
            tally.restarts += node.restarts
            tally.starts += daemons[0].starts
            tally.cpu += daemons[0].cpu
            await node.close()

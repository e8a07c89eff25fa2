"""python -m tests.soak [--minutes 10] [--steps 5000] [--seed N]: random changes under a daemon process.

Half of the time the kubelet finds pools by its plugin watcher, the other half they register the classic way.
Exit code 1, with the last steps and the seed, if an invariant did not hold.
"""

import argparse
import asyncio
import random
import sys
from collections.abc import Iterator
from time import monotonic
from typing import Final

from tests.model.broken import Broken
from tests.model.setup import WAYS, Way
from tests.soak import report
from tests.soak.life import life
from tests.soak.report import Sample
from tests.soak.restarts import restart_often
from tests.soak.tally import Tally
from tests.soak.walk import Walk, setup

_STEPS_SHOWN: Final = 20


def main() -> int:
    options = _options()
    tally, samples = Tally(), list[Sample]()
    print(f"seed {options.seed}: {options.steps} steps or {options.minutes:g} minutes", flush=True)
    began = monotonic()
    try:
        for way in WAYS:
            asyncio.run(_live(way, options, tally, samples))
    except Broken as broken:
        print(*report.lines(tally, samples), sep="\n")
        print(f"\nseed {options.seed}, {sum(tally.steps.values())} steps: {broken.last(_STEPS_SHOWN)}")
        return 1
    print(*report.lines(tally, samples), f"  {monotonic() - began:.0f} seconds in all", sep="\n", flush=True)
    return 0 if all(list(_restarts(options.restarts))) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))  # noqa: S311 - no secret
    parser.add_argument("--restarts", type=int, default=1000, help="of the kubelet, each way")
    return parser.parse_args()


async def _live(way: Way, options: argparse.Namespace, tally: Tally, samples: list[Sample]) -> None:
    chance = random.Random(f"{options.seed} {way}")  # noqa: S311 - a soak is to be had again
    until = monotonic() + options.minutes * 60 / len(WAYS)
    async with life(setup(chance, way), tally, samples) as living:
        await Walk(living.node, chance, tally).go(options.steps // len(WAYS), until)


def _restarts(times: int) -> Iterator[bool]:
    """Whether a daemon is after so many restarts of the kubelet what it was after a few."""
    for way in WAYS if times else ():
        growth = asyncio.run(restart_often(way, times))
        print(f"\n{times} restarts of the kubelet, {way}: {'as before' if growth.bearable else 'GROWN'}")
        samples = Sample("before", growth.before), Sample("after", growth.after)
        print(*map(report.row, samples), sep="\n", flush=True)
        yield growth.bearable


if __name__ == "__main__":
    sys.exit(main())

"""A random walk through what can be done to a node."""

import asyncio
import random
from time import monotonic
from typing import Final

from tests.model.actions import ACTIONS, process
from tests.model.node import Node
from tests.model.settling import settle, settle_in_the_end
from tests.model.setup import CONFIGURATIONS, SHAPES, VERSIONS, Setup, Way
from tests.soak.tally import Tally

#: Seconds until the next step; None: until everything is settled.
_PAUSES: Final = (None, None, 0.0, 0.005, 0.05, 0.2)


def setup(chance: random.Random, way: Way) -> Setup:
    return Setup(
        chance.choice(SHAPES),
        chance.choice(CONFIGURATIONS),
        way,
        chance.choice(VERSIONS),
        aligned=chance.random() < 1 / 2,
        config_map=chance.random() < 1 / 2,
    )


class Walk:
    """From half of the time on the daemon is left running, so that one can see what it uses."""

    def __init__(self, node: Node, chance: random.Random, tally: Tally) -> None:
        self._node = node
        self._chance = chance
        self._tally = tally

    async def go(self, steps: int, until: float) -> None:
        """Make so many steps, or until that time.

        Raises:
            Broken: at the first invariant that does not hold.
        """
        began = monotonic()
        for number in range(steps):
            now = monotonic()
            if now >= until:
                break
            await self._step(restless=number < steps / 2 and now < (began + until) / 2)
        if not self._node.daemon.running:
            await process.start(self._node)
        await settle_in_the_end(self._node)
        self._tally.settled += 1

    async def _step(self, *, restless: bool) -> None:
        node = self._node
        possible = [a for a in ACTIONS if (restless or a not in _ENDS) and (not a.steady or a.choices(node))]
        (action,) = self._chance.choices(possible, [a.weight for a in possible])
        self._tally.steps[action.name] += 1
        await action.do(node, self._chance.randrange(1000))
        pause = self._chance.choice(_PAUSES)
        if pause is None:
            await settle(node)
            self._tally.settled += node.settled
        else:
            await asyncio.sleep(pause)
        node.check()


_ENDS: Final = (process.STOP_DAEMON, process.RESTART_DAEMON)

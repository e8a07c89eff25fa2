"""Nothing is sent."""

import asyncio
import time
from collections.abc import Sequence
from typing import Self

from tests.daemon.live import Live


class Quiet:
    """Asserts that no list comes meanwhile, and none for a moment after."""

    def __init__(self, node: Live, *pools: str, settle: float = 0.4) -> None:
        self._node = node
        self._pools = pools
        self._settle = settle
        self._before: Sequence[int] = ()

    async def __aenter__(self) -> Self:
        self._before = self._counts()
        return self

    async def __aexit__(self, *failure: object) -> None:
        if failure[0] is None:
            end = time.monotonic() + self._settle
            while time.monotonic() < end and self._counts() == self._before:
                await asyncio.sleep(0.05)
            assert self._counts() == self._before, [self._node.lists(pool)[-1].health for pool in self._pools]

    def _counts(self) -> Sequence[int]:
        return [len(self._node.lists(pool)) for pool in self._pools]

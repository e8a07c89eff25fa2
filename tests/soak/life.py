"""One node with a daemon process, while it is looked at from time to time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from tests.hosts.ground import temporary_directory
from tests.model.node import Node
from tests.model.places import Places
from tests.model.settling import settle
from tests.model.setup import Setup
from tests.soak.process_daemon import ProcessDaemon
from tests.soak.report import Sample
from tests.soak.tally import Tally

_SAMPLE_EVERY: Final = 60.0


class Life:
    def __init__(self, directory: Path, setup: Setup) -> None:
        self.node = Node(directory, setup, self._make_daemon)
        self._setup = setup
        self._began = asyncio.get_running_loop().time()

    def _make_daemon(self, places: Places, config_file: Path) -> ProcessDaemon:
        self.daemon = ProcessDaemon(places, config_file)
        return self.daemon

    def sample(self, when: str = "") -> Sample | None:
        use = self.daemon.usage()
        minute = (asyncio.get_running_loop().time() - self._began) / 60
        return None if use is None else Sample(f"{self._setup.way}, {when or f'minute {minute:.0f}'}", use)

    async def sampling(self, samples: list[Sample]) -> None:
        """Add one each minute; a daemon that is down is left out."""
        while True:
            await asyncio.sleep(_SAMPLE_EVERY)
            if sample := self.sample():
                samples.append(sample)


@asynccontextmanager
async def life(setup: Setup, tally: Tally, samples: list[Sample]) -> AsyncIterator[Life]:
    """From the first list to the end; what was done is in the tally even if it ends badly."""
    with temporary_directory() as directory:
        living = Life(directory, setup)
        await living.node.open()
        looking = asyncio.create_task(living.sampling(samples))
        try:
            await settle(living.node)
            samples += filter(None, [living.sample("start")])
            yield living
            samples += filter(None, [living.sample("end")])
        finally:
            looking.cancel()
            tally.messages += living.node.witness.messages
            tally.restarts += living.node.restarts
            tally.starts += living.daemon.starts
            tally.cpu += living.daemon.cpu
            await living.node.close()

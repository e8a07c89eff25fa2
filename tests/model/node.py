"""A simulated node: host, configuration, kubelet and daemon, and the story of what was done to them."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from time import monotonic
from typing import Final

from tests.fakes.kubelet import Admission, FakeKubelet, Timing
from tests.model.broken import Broken
from tests.model.config_file import ConfigFile
from tests.model.daemon import Daemon
from tests.model.expectation import Hold, Lists, expected
from tests.model.growth import Growth
from tests.model.places import Places
from tests.model.pools import Pools
from tests.model.setup import Setup
from tests.model.witness import Witness

#: A kubelet in a hurry.
TIMING: Final = Timing(
    dial=2.0,
    redial=0.02,
    reconcile=0.02,
    backoff_first=0.02,
    backoff_most=0.2,
    node_tick=0.1,
    accept_delay=0.003,
)
MakeDaemon = Callable[[Places, Path], Daemon]


class Node:
    """Entered: everything runs. Left: nothing is left of it."""

    def __init__(self, directory: Path, setup: Setup, make_daemon: MakeDaemon) -> None:
        self.setup = setup
        self.places = Places(directory, setup.way)
        self.host = setup.host().lay(self.places.host)
        self.config = ConfigFile(self.places.config, setup.pools, config_map=setup.config_map)
        self.kubelet = FakeKubelet(
            self.places.kubelet,
            version=setup.version,
            topology_policy="single-numa-node" if setup.aligned else "none",
            watcher=setup.way == "watcher",
            timing=TIMING,
        )
        self.witness = Witness(self.kubelet)
        self.daemon = make_daemon(self.places, self.config.path)
        self.served: Pools | None = setup.pools
        """The configuration that the daemon has; None while it waits for one."""
        self.settled = False
        """Nothing was done since everything was seen to be in order."""
        self.was_settled = False
        """The same before what is being done now."""
        self.pods = 0
        self.restarts = 0
        self.debris: set[tuple[Path, int]] = set()
        """Sockets of daemons that were killed."""
        self.growth = Growth()
        self.lost_records: set[Hold] = set()
        """Held devices whose device-info file somebody removed."""
        self.strange_prefixes: set[str] = set()
        """Prefixes of device-info files that the daemon cannot know to be its own."""
        self.story: list[str] = [f"begin with {setup}"]
        self._restart: asyncio.Task[dict[str, Admission]] | None = None
        self._stack = AsyncExitStack()
        self._began = monotonic()

    async def open(self) -> None:
        await self._stack.enter_async_context(self.kubelet)
        self._stack.push_async_callback(self.daemon.terminate)
        await self.daemon.start()

    async def close(self) -> None:
        if self._restart is not None:
            await asyncio.gather(self._restart, return_exceptions=True)
        await self._stack.aclose()

    def tell(self, text: str) -> None:
        self.story.append(f"{monotonic() - self._began:7.3f} {text}")

    def expected(self, *more: Hold) -> Lists:
        """The lists that the kubelet must have; with *more* counted as held, too."""
        if self.served is None:
            return {}
        return expected(self.host, self.served, self.witness.held() | set(more))

    def sockets(self) -> set[tuple[Path, int]]:
        """Sockets of pools, each with what tells it from an earlier one of the same name."""
        return {(socket, socket.stat().st_ino) for socket in self.places.pool_sockets()}

    # -- the kubelet's restarts go on while other things are done ---------------------------------
    def begin_restart(self, down: float, settle: float) -> None:
        """Kill it, and start another after a while; pods are admitted anew after another while."""
        self.restarts += 1
        work = self.kubelet.restart(down_s=down, settle_s=settle)
        self._restart = asyncio.get_running_loop().create_task(work, name="restart the kubelet")

    @property
    def restarting(self) -> bool:
        return self._restart is not None

    async def restarted(self) -> None:
        """Return when the kubelet is up again."""
        if self._restart is None:
            return
        verdicts = await self._restart
        self._restart = None
        refused = {uid: verdict.message for uid, verdict in verdicts.items() if not verdict.admitted}
        if refused:
            self.fail(f"running pods were refused after a restart of the kubelet: {refused}")

    # -- what is wrong ----------------------------------------------------------------------------
    def fail(self, *faults: str) -> None:
        raise Broken(faults, self.story, self.daemon.log())

    def told(self) -> str:
        """What was done, and what the daemon said last."""
        return str(Broken((), self.story, self.daemon.log()))

    def check(self) -> None:
        """What must hold at any moment."""
        twice = [notice for notice in self.kubelet.notices if "already connected" in notice]
        panics = [str(panic) for panic in self.kubelet.panics]
        faults = [*self.witness.faults, *panics, *twice, *self.daemon.faults()]
        if faults:
            self.fail(*faults)

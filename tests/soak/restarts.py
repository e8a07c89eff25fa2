"""Many restarts of the kubelet, one upon the other."""

from dataclasses import dataclass
from typing import Final

from tests.model.settling import settle
from tests.model.setup import Setup, Way
from tests.soak.life import Life, life
from tests.soak.tally import Tally
from tests.soak.usage import Usage, usage

_WITHIN: Final = 20.0
_WARM_UP: Final = 300
"""Restarts until the allocators have what they keep: after that a thousand take half a megabyte more, not two."""
_MOST_MEGABYTES: Final = 2.0


@dataclass(frozen=True, slots=True)
class Growth:
    """What the daemon used after the first restarts of the kubelet, and after all."""

    way: Way
    times: int
    before: Usage
    after: Usage

    @property
    def bearable(self) -> bool:
        return self.after.rss - self.before.rss < _MOST_MEGABYTES and self.after.files <= self.before.files


async def restart_often(way: Way, times: int) -> Growth:
    async with life(Setup(way=way), Tally(), []) as living:
        before = await _restart(living, _WARM_UP)
        return Growth(way, times, before, await _restart(living, times))


async def _restart(living: Life, times: int) -> Usage:
    node, daemon = living.node, living.daemon
    resource = node.setup.pools[0].resource
    for _ in range(times):
        await node.kubelet.restart(no_readmit=True)
        await node.kubelet.wait_registered(resource, _WITHIN)
    await settle(node)
    if daemon.pid is None:
        raise RuntimeError("the daemon is gone")
    return usage(daemon.pid)

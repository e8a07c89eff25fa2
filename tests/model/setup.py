"""What a run of the model begins with."""

from dataclasses import dataclass
from typing import Final, Literal

from tests.hosts.host import SimHost
from tests.model.pools import KINDS, NAMES, Pool, Pools

Way = Literal["watcher", "classic"]
WAYS: Final[tuple[Way, ...]] = ("watcher", "classic")
VERSIONS: Final = ("1.37", "1.36", "1.34", "1.32")
#: Place of the PF, name of its interface, NUMA node.
PFS: Final = (("0000:3b:00.0", "p0", 0), ("0000:af:00.0", "p1", 1))
MOST_VFS: Final = 3
#: VFs of each PF at the start; a PF that is not there may be plugged in later.
SHAPES: Final = ((2,), (3,), (2, 1), (0, 3))
CONFIGURATIONS: Final[tuple[Pools, ...]] = (
    (Pool(NAMES[0], KINDS[0]), Pool(NAMES[1], KINDS[1])),
    (Pool(NAMES[0], KINDS[3]),),
    (Pool(NAMES[1], KINDS[2]), Pool(NAMES[3], KINDS[6])),
    (Pool(NAMES[3], KINDS[1]), Pool(NAMES[2], KINDS[4]), Pool(NAMES[0], KINDS[5])),
)


@dataclass(frozen=True, slots=True)
class Setup:
    shape: tuple[int, ...] = SHAPES[0]
    pools: Pools = CONFIGURATIONS[0]
    way: Way = WAYS[0]
    version: str = VERSIONS[0]
    aligned: bool = False
    """The kubelet's topology policy is single-numa-node."""
    config_map: bool = False
    """The configuration is mounted from a ConfigMap."""

    def host(self) -> SimHost:
        host = SimHost()
        for (bdf, name, numa), vfs in zip(PFS, self.shape, strict=False):
            pf = host.pf(bdf, netdevs=[name], numa=numa, totalvfs=MOST_VFS)
            host.vfs(pf, vfs)
        return host

"""A simulated node for the daemon: host, configuration, and the directories it shares with kubelet and CNI."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from tests.hosts.ground import temporary_directory
from tests.hosts.host import SimHost
from tests.hosts.scale import scale

#: Number of VFs to PFs and VFs of each.
SHAPES: Final = {16: (1, 16), 256: (2, 128), 1024: (8, 128), 4096: (16, 256)}


@dataclass(frozen=True, slots=True)
class Bed:
    """Where everything is. The kubelet finds pools by its plugin watcher."""

    directory: Path
    vfs: int
    pools: int

    @property
    def host(self) -> Path:
        return self.directory / "host"

    @property
    def config(self) -> Path:
        return self.directory / "config.json"

    @property
    def kubelet(self) -> Path:
        return self.directory / "k"

    @property
    def sockets(self) -> Path:
        return self.kubelet / "plugins_registry"

    @property
    def devinfo(self) -> Path:
        return self.directory / "devinfo"

    def configure(self, pools: int) -> "Bed":
        """The same host with as many pools, of equal size."""
        entries = list(_pools(self.vfs, pools))
        self.config.write_text(json.dumps({"resourceList": entries}))
        return Bed(self.directory, self.vfs, pools)

    def clear(self) -> None:
        """Forget the last run, as a reboot of the node does."""
        shutil.rmtree(self.kubelet, ignore_errors=True)
        shutil.rmtree(self.devinfo, ignore_errors=True)
        self.sockets.mkdir(parents=True)


@contextmanager
def bed(vfs: int, pools: int = 1) -> Iterator[Bed]:
    """A node with so many VFs on vfio-pci, gone at the end."""
    with temporary_directory() as directory:
        made = Bed(directory, vfs, pools)
        scale(*SHAPES[vfs]).lay(made.host)
        made.clear()
        yield made.configure(pools)


@contextmanager
def bed_of(host: SimHost, pools: Sequence[Mapping[str, Any]], devices: int) -> Iterator[Bed]:
    """A node of any kind, with a configuration that serves so many devices of it."""
    with temporary_directory() as directory:
        made = Bed(directory, devices, len(pools))
        host.lay(made.host)
        made.clear()
        made.config.write_text(json.dumps({"resourceList": pools}))
        yield made


def _pools(vfs: int, pools: int) -> Iterator[dict[str, Any]]:
    if pools == 1:
        yield {"resourceName": "all", "selectors": {"drivers": ["vfio-pci"]}}
        return
    size, vfs_of_pf = vfs // pools, SHAPES[vfs][1]
    for pool in range(pools):
        names = []
        for pf, group in groupby(range(pool * size, (pool + 1) * size), lambda vf: vf // vfs_of_pf):
            indices = [vf % vfs_of_pf for vf in group]
            names.append(f"p{pf}#{indices[0]}-{indices[-1]}")
        yield {"resourceName": f"pool{pool}", "selectors": {"drivers": ["vfio-pci"], "pfNames": names}}

"""A daemon process that serves a simulated host to a fake kubelet."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Literal

from tests.daemon.process import DaemonProcess, daemon
from tests.fakes.kubelet import FakeKubelet, Timing
from tests.hosts.ground import temporary_directory
from tests.hosts.laid import LaidHost
from tests.hosts.scale import scale

RESOURCE: Final = "intel.com/all"
#: Number of VFs to PFs and VFs of each.
_SHAPES: Final = {16: (1, 16), 64: (1, 64), 1024: (8, 128)}
#: It listens as soon as its socket is there, and looks at plugins often.
_TIMING: Final = Timing(accept_delay=0.0, reconcile=0.02)


@dataclass(frozen=True, slots=True)
class LiveBed:
    vfs: int
    host: LaidHost
    kubelet: FakeKubelet
    daemon: DaemonProcess

    @property
    def pid(self) -> int:
        return self.daemon.process.pid

    def listed(self) -> dict[str, str]:
        """Health by id, as the kubelet has it."""
        return self.kubelet.messages(RESOURCE)[-1].health


@asynccontextmanager
async def live_bed(vfs: int, way: Literal["watcher", "classic"] = "watcher") -> AsyncIterator[LiveBed]:
    """All VFs are in one pool, on vfio-pci; entered when the kubelet has its list."""
    with temporary_directory() as directory:
        host = scale(*_SHAPES[vfs]).lay(directory / "h")
        config = directory / "config.json"
        config.write_text(
            json.dumps({"resourceList": [{"resourceName": "all", "selectors": {"drivers": ["vfio-pci"]}}]})
        )
        flags = (
            f"--config-file={config}",
            f"--root={directory / 'h'}",
            f"--kubelet-dir={directory / 'k'}",
            f"--devinfo-dir={directory / 'i'}",
        )
        fake = FakeKubelet(directory / "k", watcher=way == "watcher", timing=_TIMING)
        async with fake as kubelet, daemon(directory, *flags) as process:
            await kubelet.wait_allocatable(RESOURCE, vfs, 60)
            yield LiveBed(vfs, host, kubelet, process)

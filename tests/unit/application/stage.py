"""A node on a stage: a simulated host, and everything of the plugin but the kubelet's side is real."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from adapters.cdi.store import FileCdiStore
from adapters.config.config_file import ConfigFile
from adapters.devinfo.store import FileDeviceInfoStore
from adapters.sysfs.function_control import SysfsFunctionControl
from adapters.sysfs.host_reader import SysfsHostReader
from application.allocation import Allocation
from application.bounded_calls import BoundedCalls
from application.cdi import CdiPublication
from application.discovery import Discovery
from application.holdings import Holdings
from application.link_holds import LinkHolds
from application.occupancy import Occupancy
from application.orphans import Orphans
from application.pool_table import PoolTable
from application.ports.host_reader import HostReader
from application.recovery import DriverRecovery
from application.signs_of_use import SignsOfUse
from application.tidings import Tidings
from domain.announcement import Holding
from domain.assignment import Trail, explain
from domain.errors import SriovError
from domain.exposure import Grant
from domain.resource_name import ResourceName
from tests.fakes.device_use import FakeDeviceUse
from tests.fakes.journal import FakeJournal
from tests.fakes.pool_publisher import FakePoolPublisher
from tests.hosts.host import SimHost


class Stage:
    """Pools of a configuration on a host that lies below a directory; started, and ready for Allocate."""

    def __init__(self, directory: Path, host: SimHost, *pools: Mapping[str, Any], cdi: bool = False) -> None:
        self.directory = directory
        self.laid = host.lay(directory / "root")
        self.cdi_directory = directory / "cdi"
        self.device_use = FakeDeviceUse()
        self._cdi = cdi
        self.start(*pools)

    def start(self, *pools: Mapping[str, Any], reader: HostReader | None = None) -> None:
        """A process as it starts; a second call is a restart, with the files of the first."""
        config = self.directory / "config.json"
        config.write_text(json.dumps({"resourceList": pools}), encoding="utf-8")
        self.specs = ConfigFile(config, "intel.com").load().pools
        self.journal = FakeJournal()
        self.publisher = FakePoolPublisher()
        self.reader = reader or SysfsHostReader(self.laid.root)
        self.table = PoolTable(self.specs)
        holdings = Holdings(self.device_use)
        store = FileDeviceInfoStore(self.directory / "devinfo")
        cdi = CdiPublication(FileCdiStore(self.cdi_directory, self.journal), holdings) if self._cdi else None
        control = SysfsFunctionControl(self.laid.root)
        tidings = Tidings(self.journal)
        self._discovery = Discovery(
            self.table,
            self.reader,
            self.publisher,
            store,
            cdi,
            holdings,
            DriverRecovery(control, holdings, self.journal),
            tidings,
            LinkHolds(),
            Occupancy(holdings, SignsOfUse(control)),
            Orphans(store, holdings, tidings),
        )
        calls = BoundedCalls()
        self._allocation = Allocation(self.table, self.reader, store, cdi, control, holdings, self.journal, calls)
        self.reconcile()

    def reconcile(self) -> None:
        asyncio.run(self._discovery.reconcile())

    def name(self, pool: str) -> ResourceName:
        return next(spec.name for spec in self.specs if spec.name.name == pool)

    def hold(self, pool: str, *ids: str) -> None:
        """Pods have these devices."""
        self.device_use.held = frozenset({*(self.device_use.held or ()), *(Holding(self.name(pool), i) for i in ids)})

    def listed(self, pool: str) -> dict[str, str | None]:
        """The ids that the kubelet was told, each with its fault."""
        return {entry.id: entry.fault for entry in self.publisher.lists.get(self.name(pool), ())}

    def numa_nodes(self, pool: str) -> dict[str, int | None]:
        return {entry.id: entry.numa_node for entry in self.publisher.lists.get(self.name(pool), ())}

    def allocate(self, pool: str, *ids: str) -> Grant:
        """What one container gets."""
        (granted,) = asyncio.run(self._allocation.allocate(self.name(pool), [ids]))
        return granted

    def refused(self, pool: str, *ids: str) -> str:
        """The reason why a container does not get these; no file was touched by the attempt."""
        before = self._files()
        with pytest.raises(SriovError) as caught:
            self.allocate(pool, *ids)
        assert self._files() == before
        return str(caught.value)

    def info(self, pool: str, id_: str) -> dict[str, dict[str, str]]:
        """Provider to keys, as a container is told of one device."""
        told = self.allocate(pool, id_).environment[f"{self.name(pool).variable}_INFO"]
        found: dict[str, dict[str, str]] = json.loads(told)[id_]
        return found

    def device_info(self, pool: str, id_: str) -> dict[str, Any]:
        """The content of the device's file for the CNI side."""
        file = self.directory / "devinfo" / f"intel.com-{pool}-{id_}-device.json"
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return found

    def trail(self, id_: str) -> Trail:
        return next(t for t in explain(self.reader.read(), self.specs) if t.device.id == id_)

    def why_not(self, id_: str) -> str:
        """Why a device is in no pool: what keeps it out of all, or what each refuses."""
        trail = self.trail(id_)
        assert trail.pool is None
        return str(trail.unusable) if trail.unusable else "; ".join(str(r) for v in trail.verdicts for r in v.refusals)

    def _files(self) -> dict[Path, tuple[int, bytes]]:
        places = (self.directory / "devinfo", self.cdi_directory)
        found = [file for place in places if place.is_dir() for file in place.iterdir()]
        return {file: (file.stat().st_ino, file.read_bytes()) for file in found}


def nodes(granted: Grant) -> list[str]:
    """The host's nodes in a grant, all of them seen under the same name in the container."""
    assert all((node.host, node.access) == (node.container, "rw") for node in granted.nodes)
    return [node.host for node in granted.nodes]

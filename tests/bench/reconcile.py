"""The parts of a reconcile, in this process."""

import time
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from adapters.config.config_file import ConfigFile
from adapters.devinfo.store import FileDeviceInfoStore
from adapters.sysfs.host_reader import SysfsHostReader
from domain.announcement import offers
from domain.assignment import Assignment, assign
from domain.device_info import DeviceInfo, device_info
from domain.host import Host
from tests.bench.bed import Bed, bed
from tests.bench.figure import Figure

SECTION: Final = "reconcile"
T = TypeVar("T")


def measure(*, quick: bool) -> Iterator[Figure]:
    for vfs in (1024,) if quick else (1024, 4096):
        with bed(vfs, pools=8) as node:
            rounds = [_round(node) for _ in range(3 if quick else 7)]
        for part in rounds[0]:
            yield Figure(SECTION, f"{vfs} VFs, {part}", "ms", [times[part] for times in rounds])


def _round(node: Bed) -> dict[str, float]:
    node.clear()
    times: dict[str, float] = {}
    reader = SysfsHostReader(node.host)
    store = FileDeviceInfoStore(node.devinfo)
    pools = ConfigFile(node.config, "intel.com").load().pools
    host = _timed(times, "read the host", reader.read)
    assignment = _timed(times, "assign to 8 pools", lambda: assign(host, pools))
    _timed(times, "judge what is offered", lambda: offers(host, assignment, pools))
    records = _timed(times, "describe devices", lambda: _records(host, assignment))
    _timed(times, "write device-info files", lambda: store.write(records))
    _timed(times, "find them unchanged", lambda: store.write(records))
    return times


def _records(host: Host, assignment: Assignment) -> list[DeviceInfo]:
    return [device_info(host, name, member) for name, members in assignment.pools.items() for member in members]


def _timed(times: dict[str, float], part: str, work: Callable[[], T]) -> T:
    begin = time.perf_counter()
    done = work()
    times[part] = (time.perf_counter() - begin) * 1000
    return done

"""A process that may open no more files has learnt nothing of the host, least of all that it is empty."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EMFILE
from pathlib import Path

import pytest

from adapters.cdi.store import FileCdiStore
from adapters.netlink.host_reader import NetlinkHostReader, Questions
from adapters.sysfs.host_reader import SysfsHostReader
from domain.cdi import CdiFile
from domain.errors import HostUnreadable
from domain.exposure import DeviceNode
from domain.index_ranges import IndexRanges
from domain.pf_selectors import PfNames
from tests.fakes.journal import FakeJournal
from tests.hosts.named import h1
from tests.unit.domain.facts import pool

NAME = "sriov-dp-intel.com-net-pci-p.yaml"


@contextmanager
def no_more_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    next_one = os.open("/dev/null", os.O_RDONLY)
    os.close(next_one)
    resource.setrlimit(resource.RLIMIT_NOFILE, (next_one, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_host_is_not_believed_to_be_empty(tmp_path: Path) -> None:
    h1().lay(tmp_path)
    reader = SysfsHostReader(tmp_path)
    host = reader.read()

    with no_more_files(), pytest.raises(HostUnreadable, match="Too many open files"):
        reader.read()
    with no_more_files(), pytest.raises(HostUnreadable, match="Too many open files"):
        reader.reread(host, ["0000:3b:01.0"])


def test_nor_interfaces_to_have_no_other_names(tmp_path: Path) -> None:
    h1().lay(tmp_path)

    def no_socket() -> dict[str, tuple[str, ...]]:
        raise OSError(EMFILE, "Too many open files")

    named = pool("p", PfNames.of([IndexRanges.split("uplink")]))
    reader = NetlinkHostReader(SysfsHostReader(tmp_path), Questions(dict, no_socket), lambda: [named], FakeJournal())
    with pytest.raises(HostUnreadable, match="the kernel: Too many open files"):
        reader.read()


def test_nor_cdi_files_of_earlier_runs_to_be_lost(tmp_path: Path) -> None:
    store = FileCdiStore(tmp_path, FakeJournal())
    file = CdiFile(NAME, "intel.com/net-pci", {"0000:3b:01.0": (DeviceNode("/dev/a", "/dev/a", "rw"),)})
    store.write([file])
    assert [read.name for read in store.read(["intel.com"])] == [NAME]

    with no_more_files(), pytest.raises(HostUnreadable):
        store.read(["intel.com"])

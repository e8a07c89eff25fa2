"""Files whose silence would make the host's own uplink look free."""

import errno
import os
from pathlib import Path

import pytest

from adapters.sysfs.host_reader import SysfsHostReader
from domain.errors import HostUnreadable
from domain.host import DefaultRoute
from tests.fakes.journal import FakeJournal
from tests.hosts.laid import LaidHost
from tests.hosts.named import h1

UPLINK = "eno1"


@pytest.fixture
def laid(tmp_path: Path) -> LaidHost:
    host = h1()
    host.pf("0000:01:00.0", netdevs=[UPLINK])
    host.default_route(UPLINK, "192.0.2.1")
    return host.lay(tmp_path)


@pytest.mark.parametrize("path", ["proc/net/route", "proc/net/ipv6_route"])
def test_a_route_table_that_is_there_and_cannot_be_read_ends_the_look(path: str, laid: LaidHost) -> None:
    laid.tree.delete(path)
    laid.tree.directory(path)  # reading it fails, whoever reads

    with pytest.raises(HostUnreadable, match=f"/{path}: Is a directory: .* what the host uses"):
        SysfsHostReader(laid.root).read()


@pytest.mark.parametrize("path", ["sys/bus/pci/devices", "sys/class/net"])
def test_nor_is_a_directory_that_cannot_be_listed_taken_for_empty(path: str, laid: LaidHost) -> None:
    laid.tree.delete(path)
    laid.tree.text(path, "")

    with pytest.raises(HostUnreadable, match=f"/{path}: Not a directory"):
        SysfsHostReader(laid.root).read()


@pytest.mark.parametrize("call", ["read", "readlink"])
def test_too_little_memory_for_a_file_or_a_link_is_no_answer(
    call: str, laid: LaidHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*_: object) -> bytes:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    reader = SysfsHostReader(laid.root)
    monkeypatch.setattr(os, call, no_memory)

    with pytest.raises(HostUnreadable, match="Cannot allocate memory"):
        reader.read()


def test_a_route_table_that_is_missing_is_said_once_and_again_when_it_was_there_meanwhile(laid: LaidHost) -> None:
    journal = FakeJournal()
    reader = SysfsHostReader(laid.root, journal)
    routes = (laid.root / "proc/net/route").read_text(encoding="utf-8")
    laid.tree.delete("proc/net/route")

    assert {reader.read().default_routes, reader.read().default_routes} == {()}
    (said,) = journal.told("missing on the host")
    assert said == {
        "path": f"{laid.root}/proc/net/route",
        "reason": "No such file or directory",
        "consequence": "nobody knows which function has the host's default route",
    }
    laid.tree.text("proc/net/route", routes)
    assert reader.read().default_routes == (DefaultRoute(UPLINK, "IPv4"),)
    laid.tree.delete("proc/net/route")
    reader.read()
    assert len(journal.told("missing on the host")) == 2


def test_a_host_without_ipv6_lacks_nothing(laid: LaidHost) -> None:
    journal = FakeJournal()
    laid.tree.delete("proc/net/ipv6_route")

    assert SysfsHostReader(laid.root, journal).read().default_routes == (DefaultRoute(UPLINK, "IPv4"),)
    assert journal.events == []


def test_a_root_without_a_pci_bus_is_said(tmp_path: Path) -> None:
    journal = FakeJournal()

    assert SysfsHostReader(tmp_path / "mistyped", journal).read().functions == {}
    assert [said["path"] for said in journal.told("missing on the host")] == [
        f"{tmp_path}/mistyped/sys/bus/pci/devices",
        f"{tmp_path}/mistyped/proc/net/route",
    ]

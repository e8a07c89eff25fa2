"""When is a socket at a path another one than before?"""

import asyncio
import os
import socket
import time
from pathlib import Path

import pytest

from adapters.kubelet.publisher import KubeletPaths, KubeletPublisher, Registration
from adapters.kubelet.socket_path import identity
from domain.announcement import Announced
from domain.exposure import Grant
from domain.resource_name import ResourceName
from tests.fakes.journal import FakeJournal
from tests.fakes.kubelet import EAGER, FakeKubelet

P = ResourceName("intel.com", "p")
Q = ResourceName("intel.com", "q")


async def _grants(resource: ResourceName, containers: object) -> list[Grant]:
    return [Grant({}) for _ in containers]  # type: ignore[attr-defined]


def bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def test_another_mode_owner_or_name_makes_no_other_socket(short_path: Path) -> None:
    path = short_path / "s"
    bind(path)
    before, changed = identity(path), path.stat().st_ctime_ns
    while path.stat().st_ctime_ns == changed:  # the clock of files is coarse
        path.chmod(0o640)
        os.chown(path, os.getuid(), os.getgid())
        os.link(path, short_path / "t")
        (short_path / "t").unlink()

    assert identity(path) == before is not None


def test_a_new_socket_on_the_inode_of_the_old_one_is_another(short_path: Path) -> None:
    """Ext4 and others give the number again at once."""
    path = short_path / "s"
    bind(path)
    before = identity(path)
    time.sleep(0.02)  # longer than a tick of the clock of files, as any restart is
    path.unlink()
    bind(path)

    assert identity(path) != before


@pytest.mark.parametrize("way", ["watcher", "classic"])
def test_sockets_that_are_relabelled_are_still_the_same(way: str, short_path: Path) -> None:
    """As by restorecon: neither was the pool's removed, nor was the kubelet restarted."""

    async def story() -> None:
        async with FakeKubelet(short_path, timing=EAGER, watcher=way == "watcher") as kubelet:
            journal = FakeJournal()
            publisher = KubeletPublisher(KubeletPaths(short_path, short_path), Registration.AUTO, _grants, journal)
            for pool in (P, Q):
                await publisher.publish(pool, [Announced("0000:3b:01.0")])
                await kubelet.wait_registered(str(pool), 60)
            directory = kubelet.registry if way == "watcher" else kubelet.socket_directory
            (ours,) = directory.glob("*_p*.sock")
            (other,) = directory.glob("*_q*.sock")
            for path in (ours, kubelet.kubelet_socket):
                path.chmod(0o660)
            other.unlink()  # when that is noticed, all pools were looked at
            await kubelet.wait_for(lambda: len(journal.told("serving")) == 3, 60)
            await kubelet.wait_registered(str(Q), 60)
            (anew,) = journal.told("served anew")
            assert anew["resource"] == str(Q)
            assert "was removed" in anew["reason"]
            await publisher.stop()

    asyncio.run(story())

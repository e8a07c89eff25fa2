"""What killed processes leave in the kubelet's directory, and what others serve there."""

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adapters.kubelet.dead_sockets import DeadSockets
from adapters.kubelet.publisher import Registration
from adapters.kubelet.socket_path import is_of_pool, socket_name
from domain.resource_name import ResourceName
from tests.contract.pool_plugin import ENTRIES, P, plugin, until
from tests.fakes.journal import FakeJournal
from tests.fakes.kubelet.kubelet import FakeKubelet

DEAD = ["intel.com_old.sock", "intel.com_old-66170efc4bff5.sock", ".0123456789ab.s"]
FOREIGN = ["other.org_x.sock", "intel.com", "intel.com_x.txt", ".0123456789ab.t", "nvidia.sock"]


def bound(path: Path) -> socket.socket:
    """Somebody's socket, from before he listens on; closed, it is there and dead."""
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(path))
    return made


@contextmanager
def listening(path: Path) -> Iterator[None]:
    with bound(path) as made:
        made.listen()
        yield


def sweeps(directory: Path, times: int) -> FakeJournal:
    async def story() -> FakeJournal:
        journal = FakeJournal()
        dead = DeadSockets(directory, journal)
        for _ in range(times):
            await dead.sweep({"intel.com"})
        return journal

    return asyncio.run(story())


def test_dead_sockets_of_our_prefixes_go_and_no_others(short_path: Path) -> None:
    for name in [*DEAD, *FOREIGN]:
        bound(short_path / name).close()
    (short_path / "intel.com_file.sock").write_text("no socket", encoding="utf-8")
    with listening(short_path / "intel.com_alive.sock"):
        journal = sweeps(short_path, 2)

    assert sorted(os.listdir(short_path)) == sorted([*FOREIGN, "intel.com_alive.sock", "intel.com_file.sock"])  # noqa: PTH208
    (told,) = journal.told("dead sockets removed")
    assert told["sockets"] == len(DEAD)


def test_a_socket_that_is_dead_at_one_look_only_stays(short_path: Path) -> None:
    """Whoever starts has bound his socket and does not listen yet."""

    async def story() -> None:
        dead = DeadSockets(short_path, FakeJournal())
        with bound(short_path / "intel.com_a.sock") as starting:
            await dead.sweep({"intel.com"})
            starting.listen()
            await dead.sweep({"intel.com"})
            assert (short_path / "intel.com_a.sock").exists()
        # Dead by now, but that is for the one who follows him.
        await dead.sweep({"intel.com"})
        assert (short_path / "intel.com_a.sock").exists()

    asyncio.run(story())


def test_a_directory_that_is_not_there_is_told(short_path: Path) -> None:
    (told,) = sweeps(short_path / "none", 3).told("sockets not looked at")

    assert told["reason"] == "No such file or directory"


def test_the_classic_way_a_pool_that_another_process_serves_is_left_to_it(short_path: Path) -> None:
    """Case A08: a second Register would take the kubelet away from whoever serves."""

    async def story() -> None:
        async with (
            FakeKubelet(short_path, watcher=False) as kubelet,
            plugin(short_path, way=Registration.CLASSIC) as second,
        ):
            async with plugin(short_path, way=Registration.CLASSIC) as first:
                await first.publisher.publish(P, ENTRIES)
                await kubelet.wait_registered(str(P), 20)
                await second.publisher.publish(P, ENTRIES[:1])
                await until(lambda: second.journal.told("not served yet"))
                assert f"process {os.getpid()}" in second.journal.told("not served yet")[0]["reason"]
                await asyncio.sleep(0.3)
                assert len(kubelet.calls_of("Register", str(P))) == 1
            await until(lambda: second.journal.told("serving"))
            await kubelet.wait_allocatable(str(P), 1, 20)
            assert len(kubelet.calls_of("Register", str(P))) == 2

    asyncio.run(story())


@pytest.mark.parametrize("name", ["dpdk", "dpdk-a1", "d" * 63])
def test_the_sockets_of_a_pool_are_told_from_those_of_others(name: str) -> None:
    directory, host = Path("/var/lib/kubelet/device-plugins"), Path("/a/longer/place/of/kubelets/device-plugins")
    pool, others = ResourceName("intel.com", name), [ResourceName("intel.com", n) for n in ("dpd", "dpdk-b2", "e" * 63)]

    for marked in (False, True):
        assert is_of_pool(socket_name(pool, directory, host, marked=marked), pool, directory, host)
        for other in others:
            assert not is_of_pool(socket_name(other, directory, host, marked=marked), pool, directory, host)
    for stranger in ("kubelet.sock", "intel.com_dpdk-a1b2.sock", "intel.com_dpdk-66170efc4bff5", ""):
        assert not is_of_pool(stranger, pool, directory, host)

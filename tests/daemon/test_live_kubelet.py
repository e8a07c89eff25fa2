"""Kubelets that restart, lose streams and lose directories under a running daemon."""

import asyncio
import shutil
import time
from collections.abc import Callable, Coroutine
from itertools import product
from typing import Any

import pytest
from pytest_mock import MockerFixture

from tests.daemon.live import CLASSIC, DPDK, KERN, WATCHER, Live, live, name, together
from tests.fakes.kubelet import Timing
from tests.hosts.named import demo, h1

WAYS = pytest.mark.parametrize("way", [WATCHER, CLASSIC])
VERSIONS = pytest.mark.parametrize("version", ["1.32", "1.37"])


@WAYS
@VERSIONS
def test_pools_are_back_after_a_restart_of_the_kubelet_with_pods_running(version: str, way: str) -> None:
    """Case A02: one Register a pool for each kubelet; nothing is handed out again, and files stay as they are."""

    async def story() -> None:
        async with live(demo(), KERN, DPDK, way=way, version=version) as node:
            process = await node.start()
            await node.served("kern", 8)
            await node.served("dpdk", 8)
            await node.holds("pod", "dpdk", 2)
            files = node.files()
            for restart in (1, 2):
                readmitted = await node.kubelet.restart(down_s=0.3)
                assert readmitted["pod"].admitted
                await node.served("kern", 8)
                await node.served("dpdk", 8)
                if way == CLASSIC:
                    registered = [call.socket for call in node.kubelet.calls_of("Register", name("kern"))]
                    assert len(registered) == restart + 1
                    assert node.socket("kern") == registered[-1]
                assert node.socket("kern").is_socket()
                assert len(node.sockets()) == 2
            assert len(node.kubelet.calls_of("Allocate")) == 1
            assert (await node.kubelet.start("pod", "c0")).error == ""
            assert node.files() == files
            assert process.process.returncode is None

    asyncio.run(story())


def test_a_kubelet_that_stays_away_is_waited_for_and_nothing_is_served_meanwhile() -> None:
    """Case A02: the process never ends, and says once what it waits for."""

    async def story() -> None:
        async with live(h1(), KERN, way=CLASSIC) as node:
            await node.kubelet.kill()
            node.kubelet.kubelet_socket.unlink()
            process = await node.start()
            await process.until_told("not served yet")
            for _ in range(2):
                await asyncio.sleep(0.3)
                assert node.sockets() == []
            assert process.process.returncode is None
            await node.kubelet.boot()
            await node.served("kern", 4)
            assert len(process.told("not served yet")) == 1

    asyncio.run(story())


def test_a_new_kubelet_is_registered_with_although_our_socket_survived(mocker: MockerFixture) -> None:
    """Case A02, last sentence."""
    mocker.patch("tests.fakes.kubelet.process.clean_up", lambda directory, _: (directory / "kubelet.sock").unlink(True))

    async def story() -> None:
        async with live(h1(), KERN, way=CLASSIC) as node:
            await node.start()
            await node.served("kern", 4)
            await node.kubelet.restart()
            await node.served("kern", 4)
            assert len(node.kubelet.calls_of("Register")) == 2

    asyncio.run(story())


def test_a_stream_that_the_kubelet_dropped_is_back_within_ten_seconds_in_every_way() -> None:
    """Facts/kubelet.md 4.1, 8.2: our server goes on, and the kubelet never listens again by itself."""

    async def story(way: str, version: str) -> None:
        async with live(h1(), KERN, way=way, version=version) as node:
            await node.start()
            await node.served("kern", 4)
            await node.holds("pod", "kern")
            before = node.socket("kern")
            drop_stream(node, "kern")
            began = time.monotonic()
            await node.counts("kern", 4, 0)
            await node.until(lambda: node.streams("kern") == 2)
            assert time.monotonic() - began < 30  # 6 on a machine that does nothing else
            await node.served("kern", 4)
            assert (before == node.socket("kern")) is (way == WATCHER)
            assert await node.holds("other", "kern")
            assert (await node.kubelet.start("pod", "c0")).error == ""
            assert len(node.sockets()) == 1

    asyncio.run(together(*(story(*case) for case in product((WATCHER, CLASSIC), ("1.32", "1.37")))))


@WAYS
def test_a_directory_of_sockets_that_was_removed_and_made_again_is_used_again(way: str) -> None:
    async def story() -> None:
        async with live(h1(), KERN, way=way) as node:
            await node.start()
            await node.served("kern", 4)
            await node.kubelet.kill()
            while node.sockets_directory.exists():  # a socket that is served anew meanwhile keeps it
                shutil.rmtree(node.sockets_directory, ignore_errors=True)
            await node.process.until_told("served anew")
            await asyncio.sleep(0.3)
            await node.kubelet.boot()
            await node.served("kern", 4)
            assert len(node.sockets()) == 1

    asyncio.run(story())


Moment = Callable[[Live], Coroutine[Any, Any, None]]


async def it_appears(node: Live) -> None:
    while not node.sockets():
        await asyncio.sleep(0)


def asked(method: str) -> Moment:
    async def moment(node: Live) -> None:
        await node.until(lambda: bool(node.kubelet.calls_of(method)))

    return moment


@pytest.mark.parametrize(
    ("way", "moment"),
    [
        (CLASSIC, it_appears),
        (CLASSIC, asked("Register")),
        (CLASSIC, asked("GetDevicePluginOptions")),
        (CLASSIC, asked("ListAndWatch")),
        (WATCHER, it_appears),
        (WATCHER, asked("GetInfo")),
        (WATCHER, asked("ListAndWatch")),
        (WATCHER, asked("NotifyRegistrationStatus")),
    ],
)
def test_a_socket_removed_at_any_moment_ends_with_one_registration_and_one_stream(way: str, moment: Moment) -> None:
    """Case I03; and once more when all is well."""

    async def story(version: str) -> None:
        async with live(h1(), KERN, way=way, version=version) as node:
            removing = asyncio.create_task(moment(node))
            await node.start()
            await removing
            for socket in node.sockets():
                (node.sockets_directory / socket).unlink()
            await settled(node)
            node.socket("kern").unlink()
            await settled(node)

    async def settled(node: Live) -> None:
        def well() -> bool:
            sockets = node.sockets()
            ended = sum(f"ListAndWatch of {name('kern')} ended" in notice for notice in node.kubelet.notices)
            return len(sockets) == 1 and node.streams("kern") - ended == 1 and node.socket("kern").name == sockets[0]

        await node.until(well)
        await node.served("kern", 4)
        assert well()

    asyncio.run(together(story("1.32"), story("1.37")))


def test_a_starting_kubelet_that_cleans_up_late_takes_no_registration_away() -> None:
    """Facts/kubelet.md 4.3: the sweep comes before kubelet.sock, and nothing of ours lies there then."""

    async def story() -> None:
        async with live(h1(), KERN, way=CLASSIC, timing=Timing(dial=1.0, clean_up_delay=0.5)) as node:
            await node.start()
            await node.served("kern", 4)
            await node.kubelet.restart()
            await node.served("kern", 4)
            assert len(node.kubelet.calls_of("Register")) == 2

    asyncio.run(story())


def drop_stream(node: Live, pool: str) -> None:
    """The kubelet gives a connection up, as after a message it cannot read; the plugin's server lives on."""
    process = node.kubelet._process
    assert process is not None
    process._registrations.disconnect(name(pool), node.socket(pool))

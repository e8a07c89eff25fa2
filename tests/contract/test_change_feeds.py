"""Port ChangeFeed: every source for real, on the kernel that runs this and on files."""

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from errno import EACCES, EMFILE, ENOBUFS, EPERM, EPROTONOSUPPORT
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from adapters.config.config_feed import ConfigFeed
from adapters.netlink.link_feed import LinkFeed
from adapters.sysfs.tree_feed import TreeFeed
from adapters.udev.uevent_feed import UeventFeed
from application.ports.change_feed import Change, ChangeFeed
from tests.contract.heard import Heard, listening, run

LOOPBACK = Path("/sys/class/net/lo/uevent")
REPOSITORY = Path(__file__).parents[2]

needs_uevents = pytest.mark.skipif(not os.access(LOOPBACK, os.W_OK), reason=f"needs root, and a writable {LOOPBACK}")
needs_namespaces = pytest.mark.skipif(
    subprocess.run(["unshare", "-n", "ip", "link"], check=False, capture_output=True).returncode != 0,
    reason="needs unshare -n and ip",
)

IN_A_NAMESPACE = """
import asyncio, subprocess
from adapters.netlink.link_feed import LinkFeed
from tests.contract.heard import listening

async def story():
    async with listening(LinkFeed()) as heard:
        for command in ("link set lo up", "route add 192.0.2.0/24 dev lo", "-6 route add 2001:db8::/64 dev lo",
                        "route del 192.0.2.0/24", "link set lo down"):
            changes = await heard.after(lambda: subprocess.run(["ip", *command.split()], check=True))
            print(command, *(change.value for change in changes))

asyncio.run(story())
"""
UNPRIVILEGED = """
import asyncio
from adapters.udev import uevent_feed
uevent_feed._BUFFER = 1 << 30
feed = uevent_feed.UeventFeed()

async def story():
    feed.start(print)
    feed.stop()

asyncio.run(story())
"""


@needs_uevents
def test_a_uevent_of_the_kernel_wakes() -> None:
    async def story() -> None:
        async with listening(UeventFeed()) as heard:
            for _ in range(2):
                assert await heard.after(lambda: LOOPBACK.write_text("change", encoding="utf-8")) == {Change.HOST}

    run(story)


@needs_uevents
def test_a_burst_of_uevents_is_taken_in_and_lost_ones_are_a_change_too(mocker: MockerFixture) -> None:
    """As when a PF makes 256 VFs: here the socket's buffer is too small for them."""
    mocker.patch("adapters.udev.uevent_feed._BUFFER", 1 << 12)

    def burst() -> None:
        for _ in range(300):
            LOOPBACK.write_text("change", encoding="utf-8")

    async def story() -> None:
        async with listening(UeventFeed()) as heard:
            assert await heard.after(burst) == {Change.HOST}
            assert await heard.after(lambda: LOOPBACK.write_text("change", encoding="utf-8")) == {Change.HOST}

    run(story)


@pytest.mark.skipif(shutil.which("setpriv") is None or os.geteuid() != 0, reason="needs root and setpriv")
def test_uevents_are_heard_without_capabilities_where_the_kernel_allows_no_large_buffer() -> None:
    """Only CAP_NET_ADMIN may go beyond net.core.rmem_max (socket(7)), which is 208 kB on most nodes."""
    without = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]

    done = python(UNPRIVILEGED, *without)

    assert (done.stderr, done.returncode) == ("", 0)


@needs_namespaces
def test_links_and_routes_wake() -> None:
    done = python(IN_A_NAMESPACE, "unshare", "-n")

    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "link set lo up host",
        "route add 192.0.2.0/24 dev lo host",
        "-6 route add 2001:db8::/64 dev lo host",
        "route del 192.0.2.0/24 host",
        "link set lo down host",
    ]


def test_lost_messages_of_links_are_a_change_too(mocker: MockerFixture) -> None:
    async def story() -> None:
        feed = LinkFeed()
        async with listening(feed) as heard:
            full, real = mocker.Mock(), feed._socket
            full.recv.side_effect = OSError(ENOBUFS, "No buffer space available")
            feed._socket = full
            assert await heard.after(lambda: feed._drain(heard.wake)) == {Change.HOST}
            feed._socket = real

    run(story)


def no_inotify(mocker: MockerFixture) -> None:
    """As for a user that has too many already."""

    def fail(flags: int) -> int:
        ctypes.set_errno(EMFILE)
        return -1

    mocker.patch("adapters.files.inotify._libc").inotify_init1.side_effect = fail


def no_netlink(mocker: MockerFixture) -> None:
    mocker.patch("adapters.netlink.link_feed.socket.socket", side_effect=OSError(EPROTONOSUPPORT, "no netlink"))


def no_groups(mocker: MockerFixture) -> None:
    mocker.patch("adapters.netlink.link_feed.socket.socket").return_value.bind.side_effect = OSError(EPERM, "no")


def no_uevents(mocker: MockerFixture) -> None:
    mocker.patch("pyudev.Monitor.from_netlink", side_effect=OSError(EACCES, "no uevents"))


def no_libudev(mocker: MockerFixture) -> None:
    mocker.patch("pyudev.Context", side_effect=ImportError("No library named udev"))


@pytest.mark.parametrize(
    ("feed", "trouble"),
    [
        (ConfigFeed(Path("/etc/pcidp/config.json")), no_inotify),
        (TreeFeed(Path("/nowhere")), no_inotify),
        (LinkFeed(), no_netlink),
        (LinkFeed(), no_groups),
        (UeventFeed(), no_uevents),
        (UeventFeed(), no_libudev),
    ],
)
def test_a_source_that_is_not_to_be_had_is_an_oserror_and_can_be_stopped(
    feed: ChangeFeed, trouble: Callable[[MockerFixture], None], mocker: MockerFixture
) -> None:
    async def story() -> None:
        trouble(mocker)
        with pytest.raises(OSError, match=r"."):
            feed.start(Heard().wake)
        feed.stop()
        feed.stop()
        mocker.stopall()

    run(story)


@pytest.mark.parametrize("make", [lambda _: UeventFeed(), lambda _: LinkFeed(), ConfigFeed, TreeFeed])
def test_a_stopped_feed_leaves_no_file_open_and_says_nothing_more(
    make: Callable[[Path], ChangeFeed], tmp_path: Path
) -> None:
    """Also one that was never started; and a second start is a start."""
    (tmp_path / "sys").mkdir()

    async def story() -> None:
        before = files()
        feed = make(tmp_path)
        feed.stop()
        heard = Heard()
        for _ in range(2):
            feed.start(heard.wake)
            await heard.quiet()
            feed.stop()
        assert await heard.nothing_after((tmp_path / "sys" / "new").touch)
        assert files() == before

    run(story)
    assert isinstance(make(tmp_path).name, str)


def files() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names only


def python(program: str, *before: str) -> "subprocess.CompletedProcess[str]":
    """Run a program of the tests in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONWARNINGS": "error"}
    command = [*before, sys.executable, "-c", program]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=180, env=environment)

"""What the daemon needs: nothing but its mounts. As the manifest runs it, or with less."""

import asyncio
import json
import os
import socket
import stat
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from subprocess import run

import pytest

from tests.daemon.process import DaemonProcess
from tests.fakes.kubelet import FakeKubelet
from tests.hosts.ground import temporary_directory
from tests.hosts.named import h1
from tests.security import refused
from tests.security.confined import Mount, confined, missing
from tests.security.open_sockets import listening, sockets

_KERN = {"resourceName": "kern", "selectors": {"drivers": ["iavf"]}}
_WITHIN = 20.0

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"no container can be made here: {missing()}")


class Place:
    """The directories of a node, and a kubelet."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.kubelet = FakeKubelet(directory / "k", watcher=True)
        self.laid = h1().lay(directory / "h")
        self.devinfo = directory / "dp"
        self.config = directory / "c" / "config.json"
        for made in (self.devinfo, self.config.parent):
            made.mkdir()

    def mounts(self, *, devinfo: bool = True, pod_resources: bool = True) -> list[Mount]:
        own = self.directory / "k"
        found = [Mount(self.laid.root), Mount(own / "plugins_registry", writable=True)]
        found += [Mount(own / "device-plugins", writable=True)]
        found += [Mount(self.devinfo, writable=True)] if devinfo else []
        found += [Mount(own / "pod-resources")] if pod_resources else []
        return found

    def configure(self, **keys: object) -> None:
        self.config.write_text(json.dumps({"resourceList": [_KERN | keys]}), encoding="utf-8")

    def flags(self) -> list[str]:
        own = f"--kubelet-dir={self.directory / 'k'}"
        return [f"--root={self.laid.root}", own, f"--devinfo-dir={self.devinfo}"]


Story = Callable[[Place, DaemonProcess], Awaitable[None]]


def play(story: Story, *, devinfo: bool = True, pod_resources: bool = True, **keys: object) -> None:
    async def here() -> None:
        with temporary_directory() as directory:
            place = Place(directory)
            place.configure(**keys)
            mounts = place.mounts(devinfo=devinfo, pod_resources=pod_resources)
            async with place.kubelet, confined(directory, mounts, *place.flags(), config=place.config) as process:
                try:
                    await story(place, process)
                except BaseException as failure:
                    failure.add_note(process.text[-3000:])
                    raise
                assert "Traceback" not in process.text

    asyncio.run(here())


async def served(place: Place) -> None:
    await place.kubelet.wait_registered("intel.com/kern", _WITHIN)
    await place.kubelet.wait_for(lambda: place.kubelet.counts("intel.com/kern") == (4, 4), _WITHIN)
    await place.kubelet.capacity()


def status(process: DaemonProcess) -> dict[str, str]:
    lines = Path(f"/proc/{process.process.pid}/status").read_text(encoding="utf-8").splitlines()
    return {key: value.strip() for key, value in (line.split(":", 1) for line in lines)}


def test_it_serves_without_a_capability_on_a_read_only_root_behind_a_filter_of_system_calls() -> None:
    async def story(place: Place, process: DaemonProcess) -> None:
        await served(place)
        now = status(process)
        assert {now[f"Cap{kind}"] for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {"0" * 16}
        assert now["NoNewPrivs"] == "1"
        if refused.supported():
            assert now["Seccomp"] == "2"
        admitted = await place.kubelet.admit("pod", {"intel.com/kern": 2})
        assert admitted.admitted, admitted.message
        assert len(list(place.devinfo.iterdir())) == 4
        place.laid.remove_function("0000:3b:01.3")
        await place.kubelet.wait_for(lambda: (place.kubelet.counts("intel.com/kern") or (0, 0))[1] == 3, _WITHIN)
        assert process.told("cannot follow") == []

    play(story)


def test_without_the_mount_of_device_information_nothing_is_announced() -> None:
    async def story(place: Place, process: DaemonProcess) -> None:
        await process.until_told("not reconciled")
        assert "Read-only file system" in process.told("not reconciled")[0]["reason"]
        assert place.kubelet.counts("intel.com/kern") in (None, (0, 0))

    play(story, devinfo=False)


def test_without_the_mount_of_pod_resources_it_serves() -> None:
    async def story(place: Place, process: DaemonProcess) -> None:
        await served(place)
        assert (await place.kubelet.admit("pod", {"intel.com/kern": 1})).admitted

    play(story, pod_resources=False)


def test_resetting_a_device_needs_a_writable_sys() -> None:
    async def story(place: Place, process: DaemonProcess) -> None:
        await served(place)
        refusal = await place.kubelet.admit("pod", {"intel.com/kern": 1})
        assert not refusal.admitted
        assert "Read-only file system" in refusal.message

    play(story, resetOnAllocate=True)


def test_a_writable_sys_needs_no_capability() -> None:
    """The kernel is asked to probe a device that there is not: it says so, and not that this is forbidden."""
    probe = Path("/sys/bus/pci/drivers_probe")
    if not os.access(probe, os.W_OK):
        pytest.skip(f"{probe} is not to be written here")
    program = f"import os; os.write(os.open({str(probe)!r}, os.O_WRONLY), b'ffff:ff:1f.7')"
    command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", sys.executable, "-c", program]
    done = run(command, capture_output=True, text=True, check=False)
    assert "No such device" in done.stderr, done.stderr


def test_kernel_events_and_netlink_need_no_capability() -> None:
    async def here() -> None:
        with temporary_directory() as directory:
            place = Place(directory)
            place.configure()
            flags = [flag for flag in place.flags() if not flag.startswith("--root")]
            mounts = place.mounts()
            async with place.kubelet, confined(directory, mounts, *flags, config=place.config) as process:
                await process.until_told("nothing to serve")
                assert process.told("cannot follow") == []
                found = sockets(process.process.pid)
                assert found["netlink"] >= 2, found
                assert set(found) <= {"netlink", "unix"}, found

    asyncio.run(here())


def test_nothing_listens_but_the_sockets_of_pools_and_only_root_may_open_them() -> None:
    async def story(place: Place, process: DaemonProcess) -> None:
        await served(place)
        found = sockets(process.process.pid)
        assert set(found) <= {"unix", "unix, listening"}, found
        assert found["unix, listening"] == 1
        assert [path.parent.name for path in listening(process.process.pid)] == ["plugins_registry"]
        (file,) = (place.directory / "k" / "plugins_registry").iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert {stat.S_IMODE(p.stat().st_mode) for p in place.devinfo.iterdir()} == {0o644}
        assert stat.S_IMODE(place.devinfo.stat().st_mode) == 0o755

    play(story)


def test_with_an_address_for_probes_it_listens_there_besides() -> None:
    async def here() -> None:
        with temporary_directory() as directory:
            place = Place(directory)
            place.configure()
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            flags = [*place.flags(), f"--probe-address=127.0.0.1:{port}"]
            async with place.kubelet, confined(directory, place.mounts(), *flags, config=place.config) as process:
                await served(place)
                await process.until_told("answering probes")
                found = sockets(process.process.pid)
                assert found["tcp"] == 1, found
                assert set(found) <= {"tcp", "unix", "unix, listening"}, found

    asyncio.run(here())

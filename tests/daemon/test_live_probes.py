"""Case A12: probes that mean something, asked of the daemon's own process."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.daemon.ask import Heard, ask, free_port
from tests.daemon.kernel import Kernel
from tests.daemon.live import CLASSIC, DPDK, IDS, KERN, WATCHER, WITHIN, live
from tests.daemon.process import daemon
from tests.hosts.named import demo, h1

WAYS = pytest.mark.parametrize("way", [WATCHER, CLASSIC])
LIVE = Heard(200, "live\n")
READY = Heard(200, "ready\n")


def probed(port: int) -> str:
    return f"--probe-address=127.0.0.1:{port}"


async def until(port: int, path: str, condition: Callable[[Heard], bool]) -> Heard:
    """Ask until the answer is one that is waited for."""
    heard = None
    async with asyncio.timeout(WITHIN):
        while heard is None or not condition(heard):
            await asyncio.sleep(0.02)
            try:
                heard = await ask(port, path)
            except ConnectionRefusedError:
                continue
    return heard


async def ready(port: int) -> None:
    assert await until(port, "/readyz", lambda heard: heard.status == 200) == READY


@WAYS
def test_a_node_whose_pools_are_all_registered_is_live_and_ready(way: str) -> None:
    """Case A12 (1)."""

    async def story() -> None:
        async with live(demo(), KERN, DPDK, way=way) as node:
            await node.start(probed(port := free_port()))
            await node.served("kern", 8)
            await node.served("dpdk", 8)
            await ready(port)
            assert (await until(port, "/livez", lambda heard: heard == LIVE)) == LIVE

    asyncio.run(story())


def test_a_pool_that_no_kubelet_has_met_is_named_and_the_process_lives() -> None:
    """Case A12 (2)."""

    async def story() -> None:
        async with live(demo(), KERN, DPDK) as node:
            owner = socket.socket(socket.AF_UNIX)
            owner.bind(str(node.kubelet.registry / "intel.com_dpdk.sock"))
            owner.listen()
            await node.start(probed(port := free_port()))
            await node.served("kern", 8)
            unheard = "intel.com/dpdk: no kubelet has listened for"
            heard = await until(port, "/readyz", lambda heard: heard.body.count("\n") == 2)
            assert (heard.status, heard.lines[0]) == (503, "not ready")
            assert heard.lines[1].startswith(unheard)
            await until(port, "/readyz", lambda heard: heard.lines[1:] == [f"{unheard} 2 s"])
            assert (await ask(port, "/livez")).status == 200
            owner.close()
            await node.served("dpdk", 8)
            await ready(port)

    asyncio.run(story())


@WAYS
def test_while_the_kubelet_is_down_the_process_lives_and_is_not_ready(way: str) -> None:
    """Case A12 (4): nobody must kill the plugin for an outage of the kubelet."""

    async def story() -> None:
        async with live(h1(), KERN, way=way) as node:
            process = await node.start(probed(port := free_port()))
            await node.served("kern", 4)
            await ready(port)
            await node.kubelet.kill()
            heard = await until(port, "/readyz", lambda heard: heard.status == 503)
            assert heard.lines[1].startswith("intel.com/kern: no kubelet has listened for")
            assert (await ask(port, "/livez")).status == 200
            await node.kubelet.boot()
            await node.served("kern", 4)
            await ready(port)
            assert process.process.returncode is None

    asyncio.run(story())


def test_a_process_that_stands_still_does_not_answer() -> None:
    """Case A12 (3): whoever asks gives up, and that is a no."""

    async def story() -> None:
        async with live(h1(), KERN) as node:
            process = await node.start(probed(port := free_port()))
            await node.served("kern", 4)
            await ready(port)
            process.process.send_signal(signal.SIGSTOP)
            with pytest.raises(TimeoutError):
                await ask(port, "/livez", limit=1)
            process.process.send_signal(signal.SIGCONT)
            assert (await ask(port, "/livez")).status == 200
            await ready(port)

    asyncio.run(story())


def test_a_kernel_that_hangs_is_told_with_its_seconds_while_pools_are_served() -> None:
    """Case A12 (3); when it is too long is in tests/unit/application/test_vitals.py."""

    async def story() -> None:
        async with live(h1(), {**KERN, "restoreDriver": True}) as node:
            kernel = Kernel(node.laid, "ice", "iavf", "vfio-pci")  # binds nothing until it runs
            await node.start(probed(port := free_port()))
            await node.served("kern", 4)
            await until(port, "/livez", lambda heard: heard == LIVE)
            node.laid.rebind(IDS[1], "vfio-pci")
            going_on = "a look at the host has been going on for 2 s"
            heard = await until(port, "/livez", lambda heard: going_on in heard.lines)
            assert heard == Heard(200, f"live\n{going_on}\n")
            assert await ask(port, "/readyz") == READY
            await node.allocate("kern", IDS[0])
            running = asyncio.create_task(kernel.run())
            await until(port, "/livez", lambda heard: heard == LIVE)
            await node.close()  # or the kernel would wait for an answer
            running.cancel()

    asyncio.run(story())


def test_a_kernel_that_hangs_does_not_keep_the_process_from_ending() -> None:
    """Whoever finds it not alive wants a new one."""

    async def story() -> None:
        async with live(h1(), {**KERN, "restoreDriver": True}) as node:
            Kernel(node.laid, "ice", "iavf", "vfio-pci")  # binds nothing
            process = await node.start(probed(port := free_port()))
            await node.served("kern", 4)
            node.laid.rebind(IDS[1], "vfio-pci")
            await until(port, "/livez", lambda heard: len(heard.lines) > 1)
            code, _ = await process.stop()
            assert code == 0
            assert process.told("stopping")
            assert node.sockets() == []

    asyncio.run(story())


def test_who_has_nothing_to_serve_is_ready_and_says_so() -> None:
    async def story() -> None:
        async with live(h1(vfs=0), KERN) as node:
            node.config.unlink()
            await node.start(probed(port := free_port()))
            nothing = "nothing to serve: no pool has a device"
            heard = await until(port, "/readyz", lambda heard: heard.status == 200)
            assert heard.lines[0] == "ready"
            assert f"configuration rejected: {node.config}" in heard.lines[1]
            assert heard.lines[-1] == nothing
            node.configure(KERN)
            assert await until(port, "/readyz", lambda h: len(h.lines) == 2) == Heard(200, f"ready\n{nothing}\n")
            node.laid.create_vfs("0000:3b:00.0", 4)
            await node.served("kern", 4)
            await ready(port)

    asyncio.run(story())


def test_an_edit_that_is_bad_is_told_and_the_pools_stay_ready() -> None:
    async def story() -> None:
        async with live(h1(), KERN) as node:
            await node.start(probed(port := free_port()))
            await node.served("kern", 4)
            await ready(port)
            node.config.write_text("{", encoding="utf-8")
            heard = await until(port, "/readyz", lambda heard: len(heard.lines) > 1)
            assert (heard.status, heard.lines[0]) == (200, "ready")
            assert heard.lines[1].startswith(f"configuration rejected: {node.config}:1:")

    asyncio.run(story())


def test_a_port_that_somebody_has_keeps_no_pool_from_being_served() -> None:
    async def story() -> None:
        async with live(h1(), KERN) as node:
            with socket.socket() as owner:
                owner.bind(("127.0.0.1", 0))
                owner.listen()
                port = owner.getsockname()[1]
                process = await node.start(probed(port))
                await process.until_told("cannot answer probes")
                await node.served("kern", 4)
            await process.until_told("answering probes")
            await ready(port)

    asyncio.run(story())


def test_an_open_connection_does_not_delay_the_end() -> None:
    async def story() -> None:
        async with live(h1(), KERN) as node:
            process = await node.start(probed(port := free_port()))
            await node.served("kern", 4)
            await ready(port)
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.sleep(0.1)
            code, seconds = await process.stop()
            assert code == 0
            assert seconds < 4  # a request may take five
            writer.close()

    asyncio.run(story())


def test_nothing_listens_unless_it_is_asked_for() -> None:
    async def story() -> None:
        async with live(h1(), KERN) as node:
            process = await node.start()
            await node.served("kern", 4)
            assert listening(process.process.pid) == 0
            await node.restart(probed(port := free_port()))
            await ready(port)
            assert listening(node.process.process.pid) == 1

    asyncio.run(story())


def listening(pid: int) -> int:
    """How many TCP sockets of a process listen (proc(5): state 0A of /proc/net/tcp)."""
    own = {os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir() if entry.is_symlink()}  # noqa: PTH115
    tables = [Path(f"/proc/{pid}/net/{name}") for name in ("tcp", "tcp6")]
    lines = [line.split() for table in tables if table.exists() for line in table.read_text().splitlines()[1:]]
    return sum(fields[3] == "0A" and f"socket:[{fields[9]}]" in own for fields in lines)


@pytest.mark.parametrize("way", ["flag", "variable"])
def test_an_address_that_is_none_ends_the_start(way: str, tmp_path: Path) -> None:
    async def story() -> None:
        flags = ["--probe-address=localhost"] if way == "flag" else []
        variables = {} if flags else {"SRIOVDP_PROBE_ADDRESS": "localhost"}
        async with daemon(tmp_path, *flags, environment=variables) as process:
            assert await asyncio.wait_for(process.process.wait(), 15) == 2
            assert "=localhost: expected ADDRESS:PORT, as 127.0.0.1:19808 or [::1]:19808" in process.text

    asyncio.run(story())

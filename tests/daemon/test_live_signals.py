"""Signals to a running daemon."""

import asyncio
import json
import os
import signal
from pathlib import Path

import grpc
import pytest

from tests.daemon.live import CLASSIC, DPDK, IDS, KERN, WATCHER, live
from tests.daemon.quiet import Quiet
from tests.hosts.named import demo, h2


def test_sighup_reloads_the_configuration() -> None:
    """Case I08: the change itself is not to be seen, it is written through another directory's name."""

    async def story() -> None:
        async with live(demo(), KERN, healthCheckInterval=60) as node:
            elsewhere = node.directory / "elsewhere"
            elsewhere.mkdir()
            os.link(node.config, elsewhere / "config")
            process = await node.start()
            await node.served("kern", 8)
            text = json.dumps({"resourceList": [KERN, DPDK], "healthCheckInterval": 60})
            (elsewhere / "config").write_text(text, encoding="utf-8")
            await asyncio.sleep(0.5)
            assert node.streams("dpdk") == 0
            process.process.send_signal(signal.SIGHUP)
            await node.served("dpdk", 8)
            assert process.process.returncode is None

    asyncio.run(story())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("way", [WATCHER, CLASSIC])
def test_a_signal_stops_a_daemon_with_open_streams(way: str, number: signal.Signals) -> None:
    """Case I08."""

    async def story() -> None:
        async with live(demo(), KERN, DPDK, way=way) as node:
            process = await node.start()
            await node.served("kern", 8)
            await node.served("dpdk", 8)
            code, seconds = await process.stop(number)
            assert (code, node.sockets()) == (0, [])
            assert seconds < 15  # a fraction of one on a machine that does nothing else
            assert len(process.told("stopping")) == 1

    asyncio.run(story())


def test_a_hail_of_sighups_disturbs_nobody() -> None:
    """Case I08."""

    async def story() -> None:
        async with live(demo(), KERN, DPDK) as node:
            process = await node.start()
            await node.served("kern", 8)
            await node.served("dpdk", 8)
            async with Quiet(node, "kern", "dpdk"):
                for _ in range(200):
                    process.process.send_signal(signal.SIGHUP)
                    await asyncio.sleep(0.001)
                assert await node.holds("pod", "kern")
            assert process.process.returncode is None
            assert (node.streams("kern"), node.streams("dpdk")) == (1, 1)

    asyncio.run(story())


def test_a_call_that_hangs_does_not_hold_up_the_end() -> None:
    """Case I08: sysfs of a driver that is stuck; nobody can interrupt the thread that is in it."""

    async def story() -> None:
        async with live(h2(), {**DPDK, "resetOnAllocate": True}) as node:
            process = await node.start()
            await node.served("dpdk", 4)
            reset = node.laid.root / f"sys/bus/pci/devices/{IDS[0]}/reset"
            reset.unlink()
            os.mkfifo(reset)  # which nobody will ever read
            allocation = asyncio.create_task(node.allocate("dpdk", IDS[0]))
            await node.until(lambda: "wait_for_partner" in waits(process.process.pid))
            code, seconds = await process.stop()
            assert (code, node.sockets()) == (0, [])
            assert seconds < 5
            with pytest.raises(grpc.aio.AioRpcError):
                await allocation

    asyncio.run(story())


def waits(pid: int) -> set[str]:
    """What in the kernel the threads of a process wait for (proc(5))."""
    return {path.read_text(encoding="utf-8") for path in Path(f"/proc/{pid}/task").glob("*/wchan")}

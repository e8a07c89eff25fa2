"""Devices that pods hold while host, configuration, kubelet and daemon change around them."""

import asyncio
from typing import Any

import pytest

from domain.announcement import GONE
from tests.daemon.live import ALL, CLASSIC, DPDK, IDS, KERN, WATCHER, Live, live, together
from tests.daemon.quiet import Quiet
from tests.hosts.named import h1, h2

WAYS = pytest.mark.parametrize("way", [WATCHER, CLASSIC])
OFTEN = 0.3
"""Seconds between looks, so that the end of a pod shows soon."""
IN_A_POD: dict[str, Any] = {
    "resourceName": "kern",
    "selectors": {"pfNames": ["ens1f0"], "linkTypes": ["ether"], "drivers": ["iavf"]},
}


@WAYS
def test_a_daemon_killed_with_pods_running_comes_back_with_the_same_lists_and_files(way: str) -> None:
    """Cases B10, E11, I12: the netdev of the pod's VF is away."""

    async def story(version: str) -> None:
        async with live(h1(), IN_A_POD, way=way, version=version) as node:
            await node.start()
            await node.served("kern", 4)
            (held,) = await node.holds("pod", "kern")
            node.laid.move_netdev_to_pod(held)
            files = node.files()
            for streams in (2, 3):
                await node.restart()
                await node.until(lambda: node.streams("kern") == streams)  # noqa: B023 - asked at once
                await node.served("kern", 4)
                assert node.health("kern") == dict.fromkeys(IDS, "Healthy")
            assert node.files() == files
            assert (await node.kubelet.start("pod", "c0")).error == ""
            assert len(node.kubelet.calls_of("Allocate")) == 1

    asyncio.run(together(story("1.32"), story("1.37")))


def test_a_rebound_vf_that_a_pod_holds_stays_where_it_was_until_the_pod_has_ended() -> None:
    """Cases B02, B10, also across a restart of the daemon and one of the kubelet."""

    async def story() -> None:
        async with live(h1(), KERN, DPDK, healthCheckInterval=OFTEN) as node:
            await node.start()
            await node.served("kern", 4)
            (held,) = await node.holds("pod", "kern")
            node.laid.rebind(held, "vfio-pci")
            await node.counts("kern", 4, 3)
            assert node.lists("dpdk") == []
            assert GONE in await node.refusal("kern", held)
            await node.restart()
            await node.until(lambda: node.streams("kern") == 2)
            await node.counts("kern", 4, 3)
            await node.kubelet.restart()
            await node.until(lambda: node.streams("kern") == 3)
            await node.counts("kern", 4, 3)
            assert node.lists("dpdk") == []
            await node.kubelet.terminate("pod")
            await node.counts("kern", 3, 3)
            await node.served("dpdk", 1)
            assert list(node.health("dpdk")) == [held]

    asyncio.run(story())


def test_a_vf_that_vanished_while_a_pod_holds_it_stays_with_its_file_until_the_pod_has_ended() -> None:
    """Cases B03, E11."""

    async def story() -> None:
        async with live(h1(), KERN, healthCheckInterval=OFTEN) as node:
            await node.start()
            await node.served("kern", 4)
            (held,) = await node.holds("pod", "kern")
            await node.restart()
            await node.until(lambda: node.streams("kern") == 2)
            node.laid.remove_function(held)
            await node.counts("kern", 4, 3)
            assert f"intel.com-kern-{held}-device.json" in node.files()
            async with Quiet(node, "kern"):
                pass
            await node.kubelet.terminate("pod")
            await node.counts("kern", 3, 3)
            await node.until(lambda: f"intel.com-kern-{held}-device.json" not in node.files())

    asyncio.run(story())


@WAYS
def test_a_pool_taken_out_while_a_pod_holds_a_device_is_served_until_the_pod_has_ended(way: str) -> None:
    """Case A10, facts/kubelet.md 8.1: restarts of the pod's containers need the server."""

    async def story() -> None:
        async with live(h2(), DPDK, healthCheckInterval=OFTEN, way=way) as node:
            await node.start("--use-cdi")
            await node.served("dpdk", 4)
            (held,) = await node.holds("pod", "dpdk")
            await node.restart("--use-cdi")  # nothing was handed out lately
            await node.until(lambda: node.streams("dpdk") == 2)
            await node.served("dpdk", 4)
            node.configure(healthCheckInterval=OFTEN)
            await node.until(lambda: node.health("dpdk") == {held: "Unhealthy"})
            await node.until(lambda: list(node.files()) == [f"intel.com-dpdk-{held}-device.json"])
            async with Quiet(node, "dpdk"):
                started = await node.kubelet.start("pod", "c0")
                assert started.error == ""
                assert started.cdi[0].endswith(f"={held}")
                assert GONE in await node.refusal("dpdk", held)
                (described,) = (node.directory / "cdi").iterdir()
                assert held in described.read_text(encoding="utf-8")
            socket = node.socket("dpdk")
            await node.kubelet.terminate("pod")
            await node.until(lambda: node.lists("dpdk")[-1].devices == ())
            await node.until(lambda: not socket.exists())
            await node.until(lambda: not node.kubelet.is_registered("intel.com/dpdk"))
            await node.until(lambda: node.files() == {})
            await node.until(lambda: list((node.directory / "cdi").iterdir()) == [])

    asyncio.run(story())


def test_a_draining_pool_that_is_configured_again_is_whole_again() -> None:
    """Cases A10, B06."""

    async def story() -> None:
        async with live(h1(), KERN) as node:
            await node.start()
            await node.served("kern", 4)
            (held,) = await node.holds("pod", "kern")
            node.configure()
            await node.until(lambda: node.health("kern") == {held: "Unhealthy"})
            node.configure(KERN)
            await node.counts("kern", 4, 4)
            assert node.streams("kern") == 1

    asyncio.run(story())


async def start_of_a_pod(node: Live) -> str:
    await node.start()
    await node.served("kern", 4)
    (held,) = await node.holds("pod", "kern")
    return held


@WAYS
def test_pools_in_another_order_do_not_share_out_what_a_pod_holds(way: str) -> None:
    """Cases B10, D08: on a reload, and on a start of the daemon."""

    async def story(reload: bool) -> None:
        async with live(h1(), KERN, ALL, way=way) as node:
            held = await start_of_a_pod(node)
            if not reload:
                await node.kill()
            node.configure(ALL, KERN)
            if not reload:
                await node.start()
            await node.served("all", 3)
            await node.counts("kern", 1, 0)
            assert node.health("kern") == {held: "Unhealthy"}
            assert not any(held in message.health for message in node.lists("all"))

    asyncio.run(together(story(reload=True), story(reload=False)))


def test_a_renamed_pool_does_not_share_out_what_a_pod_holds_under_the_old_name() -> None:
    """Cases E11, B10: on a reload, and on a start, when the old name is no pool any more."""

    async def story(reload: bool) -> None:
        async with live(h1(), KERN, healthCheckInterval=OFTEN) as node:
            held = await start_of_a_pod(node)
            if not reload:
                await node.kill()
            node.configure({**KERN, "resourceName": "renamed"}, healthCheckInterval=OFTEN)
            if not reload:
                await node.start()
            await node.served("renamed", 3)
            assert not any(held in message.health for message in node.lists("renamed"))
            assert f"intel.com-kern-{held}-device.json" in node.files()
            if reload:
                assert node.health("kern") == {held: "Unhealthy"}
                await node.restart()  # nothing was handed out lately
            await node.kubelet.terminate("pod")
            await node.served("renamed", 4)

    asyncio.run(together(story(reload=True), story(reload=False)))


def test_a_daemon_that_starts_before_the_kubelet_does_not_share_out_what_a_pod_holds() -> None:
    """Cases B02, B10: who holds what is known only when the kubelet answers."""

    async def story() -> None:
        async with live(h1(), KERN, ALL, healthCheckInterval=OFTEN) as node:
            held = await start_of_a_pod(node)
            await node.kubelet.kill()
            await node.kill()
            node.configure(ALL, KERN, healthCheckInterval=OFTEN)
            await node.start()
            await node.process.until_told("serving")
            readmitted = await node.kubelet.restart()
            assert readmitted["pod"].admitted
            await node.until(lambda: node.kubelet.is_registered("intel.com/all"))
            await node.served("all", 3)
            await node.counts("kern", 1, 0)
            assert not any(held in message.health for message in node.lists("all"))

    asyncio.run(story())


@pytest.mark.parametrize(("way", "name"), [(CLASSIC, "kern"), (WATCHER, "renamed")])
def test_sockets_of_a_killed_daemon_are_removed_by_the_next(way: str, name: str) -> None:
    """Facts/kubelet.md 3.2, 4.5: the kubelet dials a dead one for ever, or takes it for a sign of the node's life."""

    async def story() -> None:
        async with live(h1(), KERN, way=way) as node:
            await node.start()
            await node.served("kern", 4)
            await node.kill()
            node.configure({**KERN, "resourceName": name})
            await node.start()
            await node.process.until_told("serving")
            await node.until(lambda: len(node.sockets()) == 1, within=5)

    asyncio.run(story())


def test_a_draining_pool_is_served_by_the_next_daemon_too() -> None:
    """Facts/kubelet.md 8.1: after five minutes without it no container of the pod can be restarted."""

    async def story() -> None:
        async with live(h1(), KERN, DPDK) as node:
            held = await start_of_a_pod(node)
            node.configure(DPDK)
            await node.until(lambda: node.health("kern") == {held: "Unhealthy"})
            await node.restart()
            await node.until(lambda: node.streams("kern") == 2, within=8)
            assert node.health("kern") == {held: "Unhealthy"}

    asyncio.run(story())

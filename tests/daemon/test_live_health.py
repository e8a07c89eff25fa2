"""Health of devices under a running daemon: links that go, come and flap; nodes that go."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.daemon.live import IDS, KERN, Live, live
from tests.daemon.quiet import Quiet
from tests.hosts.host import SimHost
from tests.hosts.named import h1, h2

HEALTHY = dict.fromkeys(IDS, "Healthy")
UNHEALTHY = dict.fromkeys(IDS, "Unhealthy")
PF = "ens1f0"


def pool(name: str, health: str, down: float = 0.2, up: float = 0.3, **selectors: list[str]) -> dict[str, Any]:
    holds = {"health": health, "holdDown": down, "holdUp": up}
    return {"resourceName": name, **holds, "selectors": selectors or {"vendors": ["8086"]}}


@pytest.mark.parametrize("host", [h1, h2], ids=["kernel VFs", "userspace VFs"])
def test_a_dead_port_makes_its_vfs_unhealthy_once_and_healthy_once(host: Callable[[], SimHost]) -> None:
    """Cases C01, C04."""

    async def story() -> None:
        async with live(host(), pool("vfs", "link")) as node:
            await node.start()
            await node.served("vfs", 4)
            node.laid.set_carrier(PF, False)
            await node.counts("vfs", 4, 0)
            assert node.health("vfs") == UNHEALTHY
            assert f"no carrier on {PF}" in await node.refusal("vfs", IDS[2])
            assert node.process.told("devices unhealthy")[0]["reason"] == f"no carrier on {PF}"
            node.laid.set_carrier(PF, True)
            await node.counts("vfs", 4, 4)
            assert [message.health for message in node.lists("vfs")] == [HEALTHY, UNHEALTHY, HEALTHY]
            await node.allocate("vfs", IDS[2])

    asyncio.run(story())


def test_a_port_that_is_taken_down_is_a_dead_one() -> None:
    """Case C01: an interface that is down has no carrier to be read."""

    async def story() -> None:
        async with live(h1(), pool("vfs", "link")) as node:
            await node.start()
            await node.served("vfs", 4)
            node.laid.set_up(PF, False)
            await node.counts("vfs", 4, 0)
            assert f"{PF} is down" in await node.refusal("vfs", IDS[0])
            node.laid.set_up(PF, True)
            await node.counts("vfs", 4, 4)

    asyncio.run(story())


def test_a_port_that_is_dead_at_the_start_is_told_in_the_first_list() -> None:
    """Case C01: nothing is offered only to be taken back."""

    async def story() -> None:
        async with live(h1(), pool("vfs", "link", down=60)) as node:
            node.laid.set_carrier(PF, False)
            await node.start()
            await node.kubelet.wait_registered("intel.com/vfs", 60)
            assert [message.health for message in node.lists("vfs")] == [UNHEALTHY]
            node.laid.set_carrier(PF, True)
            await node.counts("vfs", 4, 4)

    asyncio.run(story())


def test_a_dead_port_matters_only_to_pools_that_follow_the_link() -> None:
    """Cases C01, C05: off, the default and link, over the VFs of one PF."""

    async def story() -> None:
        pools = [
            pool("off", "off", pfNames=[f"{PF}#0"]),
            {"resourceName": "default", "selectors": {"pfNames": [f"{PF}#1"]}},
            pool("link", "link", pfNames=[f"{PF}#2-3"]),
        ]
        async with live(h1(), *pools) as node:
            await node.start()
            for name, devices in [("off", 1), ("default", 1), ("link", 2)]:
                await node.served(name, devices)
            async with Quiet(node, "off", "default"):
                for up in (False, True):
                    node.laid.set_carrier(PF, up)
                    await node.counts("link", 2, 2 * up)
            assert len(node.lists("link")) == 3

    asyncio.run(story())


def test_a_netdev_that_went_into_a_pod_is_not_down() -> None:
    """Case C02: PFs without VFs, in a pool that follows the link."""

    async def story() -> None:
        host = SimHost()
        for number in range(2):
            host.pf(f"0000:5e:00.{number}", netdevs=[f"ens2f{number}"])
        async with live(host, pool("pfs", "link", down=1)) as node:
            await node.start()
            await node.served("pfs", 2)
            (held,) = await node.holds("pod", "pfs")
            async with Quiet(node, "pfs", settle=2):
                node.laid.set_up(f"ens2f{held[-1]}", False)  # the CNI takes it down first
                node.laid.move_netdev_to_pod(held)
            await node.restart()
            await node.until(lambda: node.streams("pfs") == 2)
            await node.served("pfs", 2)

    asyncio.run(story())


def test_a_link_that_flaps_for_a_moment_is_told_once_at_most_and_ends_healthy() -> None:
    """Case C06."""

    async def story() -> None:
        async with live(h1(), pool("vfs", "link", down=1, up=1)) as node:
            await node.start()
            await node.served("vfs", 4)
            for up in (False, True, False, True):
                node.laid.set_carrier(PF, up)
                await asyncio.sleep(0.12)
            await asyncio.sleep(1.5)
            await node.counts("vfs", 4, 4)
            assert len(node.lists("vfs")) in {1, 3}

    asyncio.run(story())


def test_a_link_that_flaps_on_and_on_is_told_once_a_hold_time_at_most() -> None:
    """Case C06."""

    async def story() -> None:
        hold = 0.5
        async with live(h1(), pool("vfs", "link", down=hold, up=hold)) as node:
            await node.start()
            await node.served("vfs", 4)
            began = time.monotonic()
            for flap in range(30):
                node.laid.set_carrier(PF, flap % 2 == 1)
                await asyncio.sleep(0.05)
            await node.counts("vfs", 4, 4)
            assert len(node.lists("vfs")) - 1 <= (time.monotonic() - began) / hold

    asyncio.run(story())


async def lose_a_node_and_get_it_back(node: Live, name: str) -> None:
    node.laid.tree.delete("dev/vfio/103")
    await node.counts(name, 4, 3)
    assert node.health(name) == {**HEALTHY, IDS[2]: "Unhealthy"}
    assert "/dev/vfio/103 is missing" in await node.refusal(name, IDS[2])
    node.laid.tree.node("dev/vfio/103")
    await node.counts(name, 4, 4)


@pytest.mark.parametrize("health", ["device", "link"])
def test_a_device_whose_node_is_gone_is_unhealthy_at_once_until_it_is_back(health: str) -> None:
    """Cases C05, E03: no hold time applies."""

    async def story() -> None:
        async with live(h2(), pool("vfs", health, down=60, up=60)) as node:
            await node.start()
            await node.served("vfs", 4)
            await lose_a_node_and_get_it_back(node, "vfs")

    asyncio.run(story())


def test_a_pool_without_health_goes_on_offering_a_device_without_its_node_and_refuses_to_hand_it_out() -> None:
    """Case C05."""

    async def story() -> None:
        async with live(h2(), pool("vfs", "off")) as node:
            await node.start()
            await node.served("vfs", 4)
            async with Quiet(node, "vfs"):
                node.laid.tree.delete("dev/vfio/103")
                assert "/dev/vfio/103 is missing" in await node.refusal("vfs", IDS[2])
            node.laid.remove_function(IDS[3])
            await node.counts("vfs", 3, 3)

    asyncio.run(story())


def test_a_policy_edited_in_the_configuration_is_followed_from_then_on() -> None:
    """Cases B06, C05."""

    async def story() -> None:
        async with live(h1(), KERN) as node:
            await node.start()
            await node.served("kern", 4)
            async with Quiet(node, "kern"):
                node.laid.set_carrier(PF, False)
            node.configure({**KERN, "health": "link"})
            await node.counts("kern", 4, 0)
            node.configure(KERN)
            await node.counts("kern", 4, 4)
            assert node.streams("kern") == 1

    asyncio.run(story())

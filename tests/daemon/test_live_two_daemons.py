"""Two daemons on one node, each with pools of its own: two DaemonSets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.live import CLASSIC, WATCHER, WITHIN, Live, live
from tests.hosts.named import h1

KERN: dict[str, Any] = {"resourceName": "kern", "selectors": {"pfNames": ["ens1f0#0-1"]}}
OTHER: dict[str, Any] = {"resourceName": "other", "selectors": {"pfNames": ["ens1f0#2-3"]}}


class Second(Live):
    """Has a configuration and logs of its own."""

    @property
    def config(self) -> Path:
        return self.directory / "c" / "node-2"


@asynccontextmanager
async def pair(way: str, prefix: str) -> AsyncIterator[tuple[Live, Live]]:
    """Two daemons that are yet to be started, and what each sees of the one node."""
    async with live(h1(), KERN, way=way) as first:
        second = Second(first.directory, first.laid, first.kubelet, way)
        second.configure({**OTHER, "resourcePrefix": prefix})
        try:
            yield first, second
        finally:
            await second.close()


async def hold_one(node: Live, resource: str) -> None:
    await node.kubelet.wait_registered(resource, WITHIN)
    await node.until(lambda: node.kubelet.counts(resource) == (2, 2))
    assert (await node.kubelet.admit("pod", {resource: 1})).admitted


def streams(node: Live, resource: str) -> int:
    return len(node.kubelet.calls_of("ListAndWatch", resource))


def files_of(node: Live, resource: str) -> dict[str, int]:
    """Device information of a pool."""
    return {name: inode for name, inode in node.files().items() if name.startswith(resource.replace("/", "-"))}


@pytest.mark.parametrize("way", [WATCHER, CLASSIC])
def test_a_daemon_leaves_the_held_pool_of_another_alone_over_every_restart(way: str) -> None:
    """A pod's environment tells that a plugin of this kind handed it out, and not which one."""
    resource = "nvidia.com/other"

    async def story() -> None:
        async with pair(way, "nvidia.com") as (first, second):
            await second.start()
            await hold_one(second, resource)
            files = files_of(second, resource)
            assert len(files) == 2
            await first.start()
            await first.served("kern", 2)
            await second.kill()
            await first.restart()
            await first.until(lambda: first.streams("kern") == 2)
            await first.served("kern", 2)
            assert streams(second, resource) == 1
            assert files_of(second, resource) == files
            await second.start()
            await second.until(lambda: streams(second, resource) == 2)
            await second.until(lambda: second.kubelet.counts(resource) == (2, 2))

    asyncio.run(story())


@pytest.mark.parametrize("version", ["1.32", "1.37"])
@pytest.mark.parametrize("way", [WATCHER, CLASSIC])
def test_a_pool_that_is_only_drained_is_given_to_the_daemon_that_has_it_in_its_configuration(
    way: str, version: str
) -> None:
    """Under one resource prefix nothing else tells whose it was: after a reboot either may be first."""
    resource = "intel.com/other"

    async def story() -> None:
        async with pair(way, "intel.com") as (first, second):
            await second.start()
            await hold_one(second, resource)
            await second.kill()
            await first.start()
            await first.until(lambda: streams(first, resource) == 2)
            await first.counts("other", 1, 0)
            await second.start()
            await second.counts("other", 2, 2)
            await first.served("kern", 2)
            await first.restart()
            await first.until(
                lambda: any("left to that one" in e["reason"] for e in first.process.told("not served yet"))
            )
            await first.served("kern", 2)
            assert streams(second, resource) == 3

    asyncio.run(story())

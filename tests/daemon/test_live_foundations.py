"""A host that does not say which function it uses itself."""

import asyncio

from tests.daemon.live import live, name
from tests.hosts.named import h1

UPLINK = "eno1"
REST = {"resourceName": "rest", "selectors": {"vendors": ["8086"]}}
ROUTES = "proc/net/route"


def test_the_uplink_is_not_offered_while_its_route_cannot_be_read_and_the_others_are_when_it_can() -> None:
    async def story() -> None:
        host = h1()
        host.pf("0000:01:00.0", netdevs=[UPLINK])
        host.default_route(UPLINK, "192.0.2.1")
        async with live(host, REST) as node:
            routes = (node.laid.root / ROUTES).read_text(encoding="utf-8")
            node.laid.tree.delete(ROUTES)
            node.laid.tree.directory(ROUTES)
            process = await node.start()
            await process.until_told("not reconciled")
            assert f"/{ROUTES}: Is a directory" in process.told("not reconciled")[0]["reason"]
            assert process.told("pool changed") == []
            (node.laid.root / ROUTES).rmdir()
            node.laid.tree.text(ROUTES, routes)
            await node.served("rest", 4)
            assert node.kubelet.counts(name("rest")) == (4, 4)

    asyncio.run(story())


def test_a_route_table_that_is_missing_is_said_and_pools_are_served() -> None:
    async def story() -> None:
        async with live(h1(), REST) as node:
            node.laid.tree.delete(ROUTES)
            process = await node.start()
            await node.served("rest", 4)
            (said,) = process.told("missing on the host")
            assert said["path"].endswith(ROUTES)

    asyncio.run(story())

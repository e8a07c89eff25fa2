"""What is cleaned up for the next pod, where a pool asks for it; the kernel's part is played (kernel.py)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from tests.daemon.kernel import Bind, Kernel
from tests.daemon.live import IDS, KERN, Live, live
from tests.daemon.quiet import Quiet
from tests.hosts.named import h1, h2

PF = "0000:3b:00.0"
RESET: dict[str, Any] = {
    "resourceName": "dpdk",
    "resetOnAllocate": True,
    "selectors": {"drivers": ["vfio-pci"]},
}
RESTORED: dict[str, Any] = {**KERN, "restoreDriver": True}
OFTEN = 0.3


def test_a_vf_is_reset_before_a_pod_gets_it_and_not_given_if_that_fails() -> None:
    """Case E12 (a)."""

    async def story() -> None:
        async with live(h2(), RESET) as node:
            await node.start()
            await node.served("dpdk", 4)
            (held,) = await node.holds("pod", "dpdk")
            resets = {id_: node.laid.tree.read(f"sys/bus/pci/devices/{id_}/reset") for id_ in IDS}
            assert resets == {id_: "1" if id_ == held else "" for id_ in IDS}
            victim = next(id_ for id_ in IDS if id_ != held)
            node.laid.tree.delete(f"{node.laid.function(victim).path}/reset")
            assert "reset: No such file or directory" in (await node.refusal("dpdk", victim)).replace(
                f"{node.laid.root}/sys/bus/pci/devices/{victim}/", ""
            )
            node.laid.tree.text(f"{node.laid.function(victim).path}/reset", "")
            await node.allocate("dpdk", victim)

    asyncio.run(story())


def test_nothing_is_reset_and_no_driver_restored_unless_a_pool_asks_for_it() -> None:
    """Case E12."""

    async def story() -> None:
        async with live(h1(), KERN) as node, kernel(node) as played:
            node.laid.rebind(IDS[1], "vfio-pci")
            await node.start()
            await node.served("kern", 3)
            async with Quiet(node, "kern"):
                await node.allocate("kern", IDS[0])
            assert node.laid.tree.read(f"sys/bus/pci/devices/{IDS[0]}/reset") == ""
            assert played.asked == []

    asyncio.run(story())


def test_a_vf_left_on_another_driver_is_bound_back_to_its_pools() -> None:
    """Case E12 (b): at the start, and later."""

    async def story() -> None:
        async with live(h1(), RESTORED) as node, kernel(node) as played:
            node.laid.rebind(IDS[1], "vfio-pci")
            process = await node.start()
            await node.served("kern", 4)
            assert played.asked == [(IDS[1], "iavf")]
            node.laid.rebind(IDS[2], "vfio-pci")
            await process.until_told("driver restored", 2)
            await node.counts("kern", 4, 4)
            assert process.told("driver restored")[1]["device"] == IDS[2]
            assert process.told("driver not restored") == []

    asyncio.run(story())


def test_a_vf_that_a_pod_holds_is_bound_back_only_after_the_pod_has_ended() -> None:
    """Case E12 (b): never on a device in use."""

    async def story() -> None:
        async with live(h1(), RESTORED, healthCheckInterval=OFTEN) as node, kernel(node) as played:
            await node.start()
            await node.served("kern", 4)
            (held,) = await node.holds("pod", "kern")
            await node.restart()
            await node.until(lambda: node.streams("kern") == 2)
            node.laid.rebind(held, "vfio-pci")
            await node.counts("kern", 4, 3)
            async with Quiet(node, "kern"):
                assert played.asked == []
            await node.kubelet.terminate("pod")
            await node.counts("kern", 4, 4)
            assert played.asked == [(held, "iavf")]

    asyncio.run(story())


def test_a_vf_whose_group_may_be_open_is_left_alone_until_it_is_not() -> None:
    """Case E12 (b): here nobody can tell; a group that is busy is tried in the unit tests."""

    async def story() -> None:
        async with live(h1(), RESTORED, healthCheckInterval=OFTEN) as node, kernel(node) as played:
            node.laid.rebind(IDS[1], "vfio-pci")
            node.laid.tree.delete("dev/vfio/102")
            (node.laid.root / "dev/vfio/102").mkdir()
            process = await node.start()
            await node.served("kern", 3)
            await process.until_told("driver not restored")
            async with Quiet(node, "kern"):
                assert "cannot tell whether it is open" in process.told("driver not restored")[0]["reason"]
            assert len(process.told("driver not restored")) == 1
            assert played.asked == []
            (node.laid.root / "dev/vfio/102").rmdir()
            node.laid.tree.node("dev/vfio/102")
            await node.counts("kern", 4, 4)

    asyncio.run(story())


def test_a_failed_restore_is_told_once_and_not_tried_without_end() -> None:
    """Case E12 (b): each try is a change of the host, and so a reason to look again; rolling back: unit tests."""

    async def story() -> None:
        async with live(h1(), RESTORED) as node, kernel(node, lambda bdf, driver: False) as played:
            node.laid.rebind(IDS[1], "vfio-pci")
            process = await node.start()
            await node.served("kern", 3)
            await process.until_told("driver not restored")
            assert "bound to vfio-pci afterwards" in process.told("driver not restored")[0]["reason"]
            await asyncio.sleep(2)
            assert node.laid.function(IDS[1]).driver == "vfio-pci"
            assert len(process.told("driver not restored")) == 1
            assert played.asked.count((IDS[1], "iavf")) <= 4  # a back-off, and no loop
            assert len(node.lists("kern")) == 1

    asyncio.run(story())


def test_a_pf_is_never_bound_to_the_driver_of_vfs() -> None:
    """Case E12 (b): before its VFs are created nothing but its driver keeps a PF out of such a pool."""

    async def story() -> None:
        pool = {**RESTORED, "selectors": {"vendors": ["8086"], "drivers": ["iavf"]}}
        async with live(h1(vfs=0), pool) as node, kernel(node) as played:
            process = await node.start()
            await process.until_told("nothing to serve")
            node.laid.create_vfs(PF, 4)
            await node.served("kern", 4)
            assert played.asked == []
            assert node.laid.function(PF).driver == "ice"

    asyncio.run(story())


@asynccontextmanager
async def kernel(node: Live, takes: Bind = lambda bdf, driver: True) -> AsyncIterator[Kernel]:
    played = Kernel(node.laid, "ice", "iavf", "vfio-pci", takes=takes)
    running = asyncio.create_task(played.run())
    try:
        yield played
    finally:
        await node.close()  # or it would wait for an answer
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running

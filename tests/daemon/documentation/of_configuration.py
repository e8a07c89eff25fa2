"""Scenes: pools change."""

import asyncio
from typing import Final

from tests.daemon.documentation.of_host import PORTS, with_port
from tests.daemon.documentation.teller import Scene, Teller, started
from tests.daemon.live import KERN

RENAMED: Final = {**KERN, "resourceName": "kernel"}


async def configuration_is_edited(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("the file gets a second pool")
    node.configure(KERN, PORTS)
    await node.served("ports", 1)
    teller.step("the file gets a comma too many")
    text = node.config.read_text(encoding="utf-8")
    node.config.write_text(text.replace("]}", ",]}"), encoding="utf-8")
    await node.process.until_told("configuration rejected")
    teller.step("the comma is taken out again")
    node.config.write_text(text, encoding="utf-8")
    await node.process.until_told("configuration good again")


async def pool_is_taken_out(teller: Teller) -> None:
    node = teller.node
    await started(node)
    await node.holds("pod", "kern")
    teller.step("pool kern is taken out of the file; a pod holds one of its four VFs")
    node.configure(PORTS)
    await node.counts("kern", 1, 0)
    await asyncio.sleep(1)
    teller.step("the pod ends")
    await node.kubelet.terminate("pod")
    await node.process.until_told("pool withdrawn")


async def pool_is_renamed(teller: Teller) -> None:
    node = teller.node
    await started(node)
    await node.holds("pod", "kern")
    teller.step("pool kern is now called kernel; a pod holds one of its four VFs")
    node.configure(RENAMED)
    await node.served("kernel", 3)
    await node.counts("kern", 1, 0)
    await asyncio.sleep(1)
    teller.step("the pod ends")
    await node.kubelet.terminate("pod")
    await node.served("kernel", 4)
    await node.process.until_told("pool withdrawn")


#: By section of the document: a scene for each block of log lines.
SCENES: Final[dict[str, list[Scene]]] = {
    "The configuration is edited": [Scene(configuration_is_edited, with_port)],
    "A pool is taken out, or renamed": [Scene(pool_is_taken_out, with_port), Scene(pool_is_renamed)],
}

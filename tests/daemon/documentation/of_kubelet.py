"""Scenes: kubelet and plugin come and go."""

import asyncio
from dataclasses import replace
from typing import Final

from tests.daemon.documentation.teller import Scene, Teller, started
from tests.daemon.live import CLASSIC, HASTY
from tests.daemon.test_live_kubelet import drop_stream
from tests.hosts.named import h1


async def boot(teller: Teller) -> None:
    node = teller.node
    teller.step("the plugin starts: there are no VFs yet")
    await node.start()
    await node.process.until_told("nothing to serve")
    await asyncio.sleep(0.5)
    teller.step("the SR-IOV operator makes four VFs")
    node.laid.create_vfs("0000:3b:00.0", 4)
    await node.served("kern", 4)


async def kubelet_restarts(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("systemctl stop kubelet")
    await node.kubelet.kill()
    await asyncio.sleep(1)
    teller.step("systemctl start kubelet")
    await node.kubelet.boot()
    await node.until(lambda: node.streams("kern") == 2)
    await node.served("kern", 4)


async def plugin_restarts(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("the kubelet stops the old pod")
    await node.stop()
    teller.step("the new pod starts")
    await node.start()
    await node.until(lambda: node.streams("kern") == 2)
    await node.served("kern", 4)


async def plugin_dies(teller: Teller) -> None:
    node = teller.node
    await started(node)
    await node.kill()
    teller.step("the kubelet starts the container again")
    await node.start()
    await node.until(lambda: node.streams("kern") == 2)
    await node.served("kern", 4)


async def stream_drops(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("the kubelet drops the stream")
    drop_stream(node, "kern")
    await node.until(lambda: node.streams("kern") == 2)
    await node.served("kern", 4)


async def socket_goes(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("rm /var/lib/kubelet/plugins_registry/intel.com_kern.sock")
    node.socket("kern").unlink()
    await node.until(lambda: node.streams("kern") == 2)


#: One that takes its time between the socket and the first answer, so that the daemon surely asks in between.
SLOW: Final = replace(HASTY, accept_delay=1.0)

#: By section of the document: a scene for each block of log lines.
SCENES: Final[dict[str, list[Scene]]] = {
    "The node boots": [Scene(boot, lambda: h1(vfs=0))],
    "The kubelet is restarted or upgraded": [
        Scene(kubelet_restarts),
        Scene(kubelet_restarts, way=CLASSIC, timing=SLOW),
    ],
    "The plugin is upgraded, or dies": [Scene(plugin_restarts), Scene(plugin_dies)],
    "The kubelet drops a stream": [Scene(stream_drops)],
    "Somebody deletes a socket": [Scene(socket_goes)],
}

"""Many restarts of the kubelet, one upon the other."""

from tests.hosts.ground import temporary_directory
from tests.model.node import Node
from tests.model.settling import settle
from tests.model.setup import Setup, Way
from tests.soak.process_daemon import ProcessDaemon
from tests.soak.usage import Usage, usage

_WITHIN = 20.0


async def restart_often(way: Way, times: int, warm_up: int) -> tuple[Usage, Usage]:
    """What the daemon uses after a few restarts, and after so many more."""
    with temporary_directory() as directory:
        node = Node(directory, Setup(way=way), ProcessDaemon)
        await node.open()
        try:
            await settle(node)
            before = await _restart(node, warm_up)
            return before, await _restart(node, times)
        finally:
            await node.close()


async def _restart(node: Node, times: int) -> Usage:
    (resource,) = (pool.resource for pool in node.setup.pools[:1])
    for _ in range(times):
        await node.kubelet.restart(no_readmit=True)
        await node.kubelet.wait_registered(resource, _WITHIN)
    await settle(node)
    daemon = node.daemon
    if not isinstance(daemon, ProcessDaemon) or daemon.pid is None:
        raise TypeError("a daemon of its own process was expected")
    return usage(daemon.pid)

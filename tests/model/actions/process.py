"""The daemon's own life."""

from typing import Final

from tests.model.actions.action import Action, AnyAction
from tests.model.node import Node


def _ways_to_stop(node: Node) -> tuple[str, ...]:
    return ("SIGTERM", "SIGKILL") if node.daemon.running else ()


async def _stop(node: Node, way: str) -> None:
    if way == "SIGTERM":
        await node.daemon.terminate()
        if left := node.sockets() - node.debris:
            node.fail(f"sockets are left after SIGTERM: {[socket.name for socket, _ in left]}")
    else:
        node.debris |= node.sockets()
        await node.daemon.kill()


async def _restart(node: Node, way: str) -> None:
    await _stop(node, way)
    await start(node)


def _startable(node: Node) -> tuple[str, ...]:
    return () if node.daemon.running else ("again",)


async def _start(node: Node, how: str) -> None:
    await start(node)


async def start(node: Node) -> None:
    """Start it; a configuration that it would refuse at a start is mended first."""
    if node.config.breakage and node.config.breakage != "missing":
        node.config.write(node.config.pools)
    node.served = None if node.config.breakage else node.config.pools
    known = {pool.resource for pool in node.served or ()} | {resource for resource, _ in node.witness.held()}
    prefixes = {resource.partition("/")[0] for resource in known}
    node.strange_prefixes = {name.partition("-")[0] for name in node.places.records()} - prefixes
    node.witness.handed_out.clear()
    await node.daemon.start()


def _reloadable(node: Node) -> tuple[str, ...]:
    return ("SIGHUP",) if node.daemon.running else ()


async def _reload(node: Node, how: str) -> None:
    node.daemon.reload()


STOP_DAEMON: Final = Action("stop the daemon", _ways_to_stop, _stop, 0.5)
START_DAEMON: Final = Action("start the daemon", _startable, _start, 8)
RESTART_DAEMON: Final = Action("restart the daemon", _ways_to_stop, _restart)
RELOAD: Final = Action("reload", _reloadable, _reload, 0.5)

ACTIONS: Final[tuple[AnyAction, ...]] = (STOP_DAEMON, START_DAEMON, RESTART_DAEMON, RELOAD)

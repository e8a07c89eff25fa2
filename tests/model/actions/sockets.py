"""What happens between kubelet and daemon, and to their files."""

from pathlib import Path
from typing import Final

from tests.model.actions.action import Action, AnyAction
from tests.model.node import Node

#: Seconds that the kubelet is away, and that it waits before it admits its pods again.
_PAUSES: Final = ((0.0, 0.0), (0.0, 0.05), (0.05, 0.0), (0.05, 0.1), (0.3, 0.05))
_ALL: Final = "all of them"


def _restartable(node: Node) -> tuple[tuple[float, float], ...]:
    return () if node.restarting else _PAUSES


async def _restart(node: Node, pauses: tuple[float, float]) -> None:
    node.begin_restart(*pauses)


def _streams(node: Node) -> list[tuple[str, Path]]:
    process = node.kubelet._process
    if process is None:
        return []
    endpoints = [e for _, e in sorted(process.ledger.endpoints.primary.items())]
    return [(e.resource, e.connection.socket) for e in endpoints if e.connection and e.stopped_at is None]


async def _cut(node: Node, choice: tuple[str, Path]) -> None:
    """The kubelet parts with a plugin, and goes on living."""
    if process := node.kubelet._process:
        process._registrations.disconnect(*choice)


def _sockets(node: Node) -> list[Path]:
    return node.places.pool_sockets()


async def _remove_socket(node: Node, socket: Path) -> None:
    node.places.remove(socket)


def _records(node: Node) -> list[str]:
    names = node.places.records()
    return [*names, _ALL] if names else []


async def _remove_record(node: Node, choice: str) -> None:
    names = node.places.records() if choice == _ALL else [choice]
    node.places.remove(*(node.places.devinfo / name for name in names))
    node.lost_records |= node.witness.held()


RESTART_KUBELET: Final = Action("restart the kubelet", _restartable, _restart, 2)
CUT_STREAM: Final = Action("cut a stream", _streams, _cut, 0.1, steady=False, needs_kubelet=True)
REMOVE_SOCKET: Final = Action("remove a socket", _sockets, _remove_socket, steady=False)
REMOVE_RECORD: Final = Action("remove device information", _records, _remove_record, steady=False, needs_kubelet=True)

ACTIONS: Final[tuple[AnyAction, ...]] = (RESTART_KUBELET, CUT_STREAM, REMOVE_SOCKET, REMOVE_RECORD)

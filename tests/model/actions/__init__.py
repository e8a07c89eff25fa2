"""What may be done to a node, one module a part of it."""

from typing import Final

from tests.model.actions import configuration, host, pods, process, sockets
from tests.model.actions.action import AnyAction

ACTIONS: Final[tuple[AnyAction, ...]] = (
    *host.ACTIONS,
    *configuration.ACTIONS,
    *pods.ACTIONS,
    *sockets.ACTIONS,
    *process.ACTIONS,
)

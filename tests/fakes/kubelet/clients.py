"""The connections the registration server keeps: dm/plugin/v1beta1/handler.go.

Nearly all of the trouble of a second registration comes from what these maps are keyed by.
"""

from pathlib import Path
from typing import Protocol

from tests.fakes.kubelet.connection import Connection


class Clients(Protocol):
    def add(self, client: Connection) -> None: ...
    def drop(self, resource: str, socket: Path) -> None: ...
    def find(self, resource: str, socket: Path) -> Connection | None: ...


class ClientsByResource:
    """1.25 to 1.36: the second one replaces the first, which goes on running unknown."""

    def __init__(self) -> None:
        self._clients: dict[str, Connection] = {}

    def add(self, client: Connection) -> None:
        self._clients[client.resource] = client

    def drop(self, resource: str, socket: Path) -> None:
        self._clients.pop(resource, None)

    def find(self, resource: str, socket: Path) -> Connection | None:
        return self._clients.get(resource)


class ClientsBySocket:
    """1.37: dropping takes every client of that resource and socket, the good one included."""

    def __init__(self) -> None:
        self._clients: dict[tuple[str, Path], list[Connection]] = {}

    def add(self, client: Connection) -> None:
        self._clients.setdefault((client.resource, client.socket), []).append(client)

    def drop(self, resource: str, socket: Path) -> None:
        self._clients.pop((resource, socket), None)

    def find(self, resource: str, socket: Path) -> Connection | None:
        return next(iter(self._clients.get((resource, socket), [])), None)

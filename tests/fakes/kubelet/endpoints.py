"""The endpoints of the device manager: dm/endpoint.go, dm/manager.go PluginConnected, -Disconnected.

Up to 1.36 a resource has one; from 1.37 on it has one for each socket, and one of them is primary.
"""

import random
from dataclasses import dataclass
from pathlib import Path

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as dp
from tests.fakes.kubelet.connection import Connection


class EndpointUnusable(Exception):
    """The endpoint is missing, stopped, or there already."""


@dataclass(eq=False, slots=True)
class Endpoint:
    resource: str
    connection: Connection | None = None  # none: known from the checkpoint alone
    options: dp.DevicePluginOptions | None = None
    stopped_at: float | None = None
    heard: bool = False  # it has sent its list

    def live(self) -> Connection:
        if self.stopped_at is not None or self.connection is None:
            raise EndpointUnusable(f"endpoint &{{{{{{}} {{0 0}}}} {self.resource}}} has been stopped")
        return self.connection

    def outlived(self, grace: float, now: float) -> bool:
        return self.stopped_at is not None and now - self.stopped_at > grace


class Endpoints:
    """1.25 to 1.36: the last one registered is the one."""

    def __init__(self) -> None:
        self.primary: dict[str, Endpoint] = {}

    def connected(self, endpoint: Endpoint) -> None:
        self.primary[endpoint.resource] = endpoint

    def disconnected(self, resource: str, socket: Path, now: float) -> bool:
        """Stop the endpoint; true if the resource has none left."""
        if resource not in self.primary:
            return False
        self.primary[resource].stopped_at = now
        return True


class EndpointsBySocket(Endpoints):
    """1.37: others carry on when one is lost; a socket that was not seen to end is refused."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self._rng = rng
        self._all: dict[str, dict[Path, Endpoint]] = {}

    def connected(self, endpoint: Endpoint) -> None:
        if endpoint.connection is None:
            raise ValueError("only a connected endpoint has a socket")
        socket = endpoint.connection.socket
        known = self._all.setdefault(endpoint.resource, {})
        if socket in known:
            raise EndpointUnusable(f"device plugin already connected: {socket}")
        known[socket] = endpoint
        super().connected(endpoint)

    def disconnected(self, resource: str, socket: Path, now: float) -> bool:
        endpoint = self._all.get(resource, {}).pop(socket, None)
        if endpoint is None:
            return False
        endpoint.stopped_at = now
        if survivors := list(self._all[resource].values()):
            self.primary[resource] = self._rng.choice(survivors)
            return False
        del self._all[resource]
        return True

"""One gRPC server of one pool, on a socket path of its own."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import grpc

from adapters.kubelet.claim import claim, live_owner
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import (
    DevicePluginServicer,
    add_DevicePluginServicer_to_server,
)
from adapters.kubelet.pb.pluginregistration_v1_pb2_grpc import (
    RegistrationServicer,
    add_RegistrationServicer_to_server,
)
from adapters.kubelet.socket_path import hidden_name, identity
from domain.errors import SriovError

_MODE: Final = 0o600
_LIMITS: Final = (
    ("grpc.max_concurrent_streams", 12),
    ("grpc.max_receive_message_length", 96 << 10),
    ("grpc.max_metadata_size", 4 << 10),
    ("grpc.absolute_max_metadata_size", 8 << 10),
    ("grpc.server_handshake_timeout_ms", 5_000),
    ("grpc.max_connection_idle_ms", 30_000),
    ("grpc.http2.bdp_probe", 0),
)
"""What a peer can have of us on one connection: 1.2 MiB of requests that do not end.

A kubelet has a connection and a stream for each pool, and calls one after the other. Its largest request names all
4,096 devices of a pool, in some 70 kB. The number of connections is not limited: gRPC can be told to (1.85,
grpc.max_allowed_incoming_connections), but counts those that were closed by the peer too, until none is let in.
"""


class SocketUnbindable(SriovError):
    """There is no place for a pool's socket."""

    def __init__(self, directory: Path, why: str) -> None:
        super().__init__(f"no socket can be made in {directory}: {why}: tried again")


class Instance:
    """Serves from `start` to `stop`. Its socket is gone when it was unlinked or replaced."""

    def __init__(self, path: Path, pool: DevicePluginServicer, introduction: RegistrationServicer | None) -> None:
        self.path = path
        self._server = grpc.aio.server(options=_LIMITS)
        add_DevicePluginServicer_to_server(pool, self._server)
        if introduction is not None:
            add_RegistrationServicer_to_server(introduction, self._server)
        self._identity: tuple[int, int, int] | None = None

    async def start(self) -> None:
        """Serve, and only then appear at the path: who sees the socket is answered.

        Raises:
            SocketTaken: if the path has a live owner.
            SocketUnbindable: if there is no place for it.
            OSError: if the socket does not answer.
        """
        hidden = self.path.parent / hidden_name()
        self._bind(hidden)
        starting = asyncio.ensure_future(self._server.start())
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            await starting  # grpc.aio fails in stop if its start was cancelled
            raise
        try:
            hidden.chmod(_MODE)
            if await live_owner(hidden) is None:
                raise ConnectionRefusedError(f"{hidden}: our own server does not answer")
            await claim(hidden, self.path)
        finally:
            hidden.unlink(missing_ok=True)
        self._identity = identity(self.path)

    def _bind(self, hidden: Path) -> None:
        try:
            self._server.add_insecure_port(f"unix:{hidden}")
        except RuntimeError as error:
            # Said by gRPC it has the hidden name in it, a new one each time.
            writable = os.access(hidden.parent, os.W_OK | os.X_OK)
            reason = "is the disk full?" if writable else "it is not writable"
            raise SocketUnbindable(hidden.parent, reason) from error

    @property
    def gone(self) -> bool:
        """Whether the socket file is no longer this server's."""
        return identity(self.path) != self._identity

    async def stop(self, grace: float | None = None) -> None:
        """End every call, at once or after so many seconds at most, and take the socket away if it is this server's."""
        ours = self._identity is not None and not self.gone
        try:
            await self._server.stop(grace)
        finally:
            if ours:
                with suppress(OSError):
                    self.path.unlink()

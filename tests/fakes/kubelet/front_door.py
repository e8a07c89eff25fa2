"""A socket file as a kubelet leaves it: there before it accepts, and still there after its death.

grpcio can do neither: it listens as it binds and unlinks the path when it stops. So the file is a
listening socket of our own, which passes the bytes on to a gRPC server behind it.
"""

import asyncio
import functools
import itertools
import os
import socket
from collections.abc import Callable
from pathlib import Path

import grpc

_numbers = itertools.count()


class _Pipe(asyncio.Protocol):
    """One end: what comes in here goes out at the peer, and both end together."""

    def __init__(self, pipes: set["_Pipe"], on_open: Callable[["_Pipe"], None]) -> None:
        self._pipes = pipes
        self._on_open = on_open
        self._transport: asyncio.Transport | None = None
        self._peer: _Pipe | None = None
        self._early = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a stream transport was expected")
        self._transport = transport
        self._pipes.add(self)
        self._on_open(self)

    def join(self, peer: "_Pipe") -> None:
        self._peer, peer._peer = peer, self
        if self not in self._pipes:
            peer.abort()  # lost before it was joined
        self.data_received(b"")

    def data_received(self, data: bytes) -> None:
        self._early += data
        if self._peer is not None and self._peer._transport is not None:
            self._peer._transport.write(self._early)
            self._early = b""

    def connection_lost(self, exc: Exception | None) -> None:
        self._pipes.discard(self)
        if self._peer is not None and self._peer._transport is not None:
            self._peer._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


class FrontDoor:
    def __init__(self, path: Path, install: Callable[[grpc.aio.Server], None]) -> None:
        self._path = path
        self._server = grpc.aio.server()
        install(self._server)
        self._backend = f"fake-kubelet-{os.getpid()}-{next(_numbers)}"
        self._pipes: set[_Pipe] = set()
        self._joining: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Server | None = None
        self._slammed = False

    async def open(self, accept_delay: float = 0.0) -> None:
        self._server.add_insecure_port(f"unix-abstract:{self._backend}")
        await self._server.start()
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.setblocking(False)
            sock.bind(str(self._path))
            await asyncio.sleep(accept_delay)
            loop = asyncio.get_running_loop()
            outside = functools.partial(_Pipe, self._pipes, self._welcome)
            self._listener = await loop.create_unix_server(outside, sock=sock)
        except BaseException:
            sock.close()
            raise

    async def slam(self) -> None:
        """End as a killed process does: connections cut, the file left where it is."""
        self._slammed = True
        if self._listener is not None:
            await self._turn_away(self._listener)
        for task in self._joining:
            task.cancel()
        for pipe in list(self._pipes):
            pipe.abort()
        await self._server.stop(None)

    async def _turn_away(self, listener: asyncio.Server) -> None:
        """Accept nobody any more; a connection just accepted is lost by asyncio if the listener closes before it runs.

        Up to Python 3.12: Server._attach of a closed server fails, and nobody closes the connection.
        """
        for sock in listener.sockets:
            asyncio.get_running_loop().remove_reader(sock.fileno())
        await asyncio.sleep(0)
        listener.close()

    def _welcome(self, outside: _Pipe) -> None:
        if self._slammed:
            outside.abort()  # it had been accepted before the end
            return
        task = asyncio.get_running_loop().create_task(self._join(outside))
        self._joining.add(task)
        task.add_done_callback(self._joining.discard)

    async def _join(self, outside: _Pipe) -> None:
        loop = asyncio.get_running_loop()
        inside = functools.partial(_Pipe, self._pipes, lambda _: None)
        _, pipe = await loop.create_unix_connection(inside, f"\0{self._backend}")
        outside.join(pipe)

"""Peers that mean no good, each on the socket of a pool for as long as its context lasts."""

import asyncio
import random
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Final

import grpc

from tests.security import frames

Attack = Callable[[Path], AbstractAsyncContextManager[str]]
"""Entered: the worst is done, and as much of it goes on as the server allows; a word on what became of it."""
_MANY: Final = 10_000
_HUGE: Final = 100 << 20
_STREAMS: Final = tuple(range(1, 24, 2))
_STALLED: Final = 1.0
"""Seconds after which a server that reads nothing more is not waited for."""


class Connections:
    """Raw connections to a socket; who is not let in is counted."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._open: list[socket.socket] = []
        self.refused = 0

    async def connect(self) -> socket.socket | None:
        peer = socket.socket(socket.AF_UNIX)
        peer.setblocking(False)
        try:
            await asyncio.wait_for(asyncio.get_running_loop().sock_connect(peer, self._path), _STALLED)
        except (OSError, TimeoutError):
            peer.close()
            self.refused += 1
            return None
        self._open.append(peer)
        return peer

    async def send(self, peer: socket.socket | None, content: bytes) -> bool:
        """Whether the server took all of it."""
        if peer is None:
            return False
        try:
            await asyncio.wait_for(asyncio.get_running_loop().sock_sendall(peer, content), _STALLED)
        except (OSError, TimeoutError):
            return False
        return True

    def close(self) -> None:
        for peer in self._open:
            peer.close()

    def __len__(self) -> int:
        return len(self._open)


@asynccontextmanager
async def _connections(path: Path) -> AsyncIterator[Connections]:
    made = Connections(path)
    try:
        yield made
    finally:
        made.close()


@asynccontextmanager
async def garbage(path: Path) -> AsyncIterator[str]:
    """Bytes of chance: as a whole, and as frames of chance after a good beginning."""
    chance = random.Random(1)  # noqa: S311 - the same bytes every time
    async with _connections(path) as peers:
        for number in range(500):
            peer = await peers.connect()
            if number % 2:
                await peers.send(peer, chance.randbytes(4096))
            else:
                await peers.send(peer, frames.PREFACE + frames.settings(65535) + b"".join(_noise(chance)))
        yield f"{len(peers)} connections"


def _noise(chance: random.Random) -> Iterator[bytes]:
    for _ in range(20):
        size, kind, flags, stream = (chance.randrange(top) for top in (300, 14, 256, 9))
        yield frames.frame(kind, flags, stream, chance.randbytes(size))


@asynccontextmanager
async def connections(path: Path) -> AsyncIterator[str]:
    """Ten thousand that say nothing."""
    async with _connections(path) as peers:
        for _ in range(_MANY):
            if await peers.connect() is None and peers.refused > 3:
                break
        yield f"{len(peers)} connected"


@asynccontextmanager
async def half_open(path: Path) -> AsyncIterator[str]:
    """A thousand calls whose head does not end."""
    async with _connections(path) as peers:
        for _ in range(1000):
            peer = await peers.connect()
            if peer is None and peers.refused > 3:
                break
            beginning = frames.PREFACE + frames.settings(0) + frames.call(1, "Allocate", end_headers=False)
            await peers.send(peer, beginning[:-5])
        yield f"{len(peers)} connected"


@asynccontextmanager
async def streams(path: Path) -> AsyncIterator[str]:
    """Ten thousand streams on one connection, whatever the server allows."""
    async with _connections(path) as peers:
        peer = await peers.connect()
        await peers.send(peer, frames.PREFACE + frames.settings(65535))
        taken = [await peers.send(peer, frames.listen(2 * number + 1)) for number in range(_MANY)]
        yield f"{sum(taken)} sent"


@asynccontextmanager
async def streams_everywhere(path: Path) -> AsyncIterator[str]:
    """Ten thousand streams on two hundred connections."""
    async with _connections(path) as peers:
        taken = 0
        for _ in range(200):
            peer = await peers.connect()
            await peers.send(peer, frames.PREFACE + frames.settings(65535))
            taken += await peers.send(peer, b"".join(frames.listen(2 * n + 1) for n in range(_MANY // 200)))
        yield f"{taken * _MANY // 200} sent on {len(peers)} connections"


@asynccontextmanager
async def deaf(path: Path) -> AsyncIterator[str]:
    """Listeners that take nothing of the list: no window, or nothing is read from the socket."""
    async with _connections(path) as peers:
        for number in range(100):
            peer = await peers.connect()
            window = 0 if number % 2 else (1 << 31) - 1
            await peers.send(peer, frames.PREFACE + frames.settings(window) + frames.listen(1))
        yield f"{len(peers)} connected"


@asynccontextmanager
async def resets(path: Path) -> AsyncIterator[str]:
    """Calls that are taken back at once, ten thousand times."""
    async with _connections(path) as peers:
        peer = await peers.connect()
        await peers.send(peer, frames.PREFACE + frames.settings(65535))
        taken = 0
        for number in range(_MANY):
            stream = 2 * number + 1
            cancel = frames.frame(frames.RST_STREAM, 0, stream, (8).to_bytes(4))
            taken += await peers.send(peer, frames.listen(stream) + cancel)
        yield f"{taken} taken back"


@asynccontextmanager
async def pings(path: Path) -> AsyncIterator[str]:
    """Ten thousand of everything that is to be answered."""
    async with _connections(path) as peers:
        peer = await peers.connect()
        await peers.send(peer, frames.PREFACE + frames.settings(65535))
        each = frames.frame(frames.PING, 0, 0, b"12345678") + frames.settings(65535)
        taken = 0
        for _ in range(_MANY // 100):
            taken += await peers.send(peer, each * 100)
        yield f"{taken * 100} sent"


@asynccontextmanager
async def endless_head(path: Path) -> AsyncIterator[str]:
    """100 MB of fields of a head that does not end. Not among the `ATTACKS`: grpc keeps them."""
    async with _connections(path) as peers:
        peer = await peers.connect()
        await peers.send(peer, frames.PREFACE + frames.settings(65535) + frames.call(1, "Allocate", end_headers=False))
        block = b"".join(frames.field(f"x-{number}", "v" * 100) for number in range(140))
        piece, sent = frames.frame(frames.CONTINUATION, 0, 1, block), 0
        while sent < _HUGE and await peers.send(peer, piece):
            sent += len(piece)
        yield f"{sent >> 10} KiB sent"


@asynccontextmanager
async def huge_message(path: Path) -> AsyncIterator[str]:
    """A request of 100 MB, and a thousand that announce as much and never go on."""
    async with _connections(path) as peers, grpc.aio.insecure_channel(f"unix:{path}", options=_NO_LIMIT) as channel:
        send: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/v1beta1.DevicePlugin/Allocate")
        code = "taken"
        try:
            await send(bytes(_HUGE), timeout=20)
        except grpc.aio.AioRpcError as error:
            code = error.code().name
        for _ in range(20):
            peer = await peers.connect()
            await peers.send(peer, frames.PREFACE + frames.settings(65535))
            for number in range(50):
                stream = 2 * number + 1
                part = frames.call(stream, "Allocate") + frames.message(stream, _HUGE, bytes(16000))
                await peers.send(peer, part)
        yield code


@asynccontextmanager
async def large_messages(path: Path) -> AsyncIterator[str]:
    """On five connections as many requests as go, each as large as goes, all but the last bytes."""
    async with _connections(path) as peers:
        sent = 0
        for _ in range(5):
            peer = await peers.connect()
            beginnings = [frames.call(s, "Allocate") + frames.message(s, 98_000, bytes(10_000)) for s in _STREAMS]
            await peers.send(peer, frames.PREFACE + frames.settings(65535) + b"".join(beginnings))
            for stream in _STREAMS * 8:
                sent += await peers.send(peer, frames.frame(frames.DATA, 0, stream, bytes(10_000)))
        yield f"{sent * 10} kB sent"


_NO_LIMIT: Final = (
    ("grpc.max_send_message_length", -1),
    ("grpc.use_local_subchannel_pool", 1),
)
ATTACKS: Final[tuple[Attack, ...]] = (
    garbage,
    streams,
    deaf,
    resets,
    pings,
    huge_message,
    large_messages,
)
#: Those that cost what every connection costs, with the most kB for each; how many there may be nobody limits.
CROWDS: Final[tuple[tuple[Attack, int], ...]] = ((connections, 40), (half_open, 60), (streams_everywhere, 500))

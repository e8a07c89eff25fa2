"""Asking the daemon's probes, as the kubelet does: with an HTTP client and a time limit."""

import asyncio
import http.client
import socket
from dataclasses import dataclass
from typing import Final

LIMIT: Final = 10.0
"""Seconds; the kubelet waits for half of that."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a probe was told."""

    status: int
    body: str

    @property
    def lines(self) -> list[str]:
        return self.body.splitlines()


async def ask(port: int, path: str, host: str = "127.0.0.1", limit: float = LIMIT) -> Heard:
    """GET a path.

    Raises:
        TimeoutError: if nothing is said in time.
        OSError: if nobody listens.
    """
    return await asyncio.to_thread(_get, host, port, path, limit)


def _get(host: str, port: int, path: str, limit: float) -> Heard:
    connection = http.client.HTTPConnection(host, port, timeout=limit)
    try:
        connection.request("GET", path, headers={"Connection": "close"})
        response = connection.getresponse()
        assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
        return Heard(response.status, response.read().decode())
    finally:
        connection.close()


def free_port() -> int:
    """A port of the loopback interface that nobody has just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port

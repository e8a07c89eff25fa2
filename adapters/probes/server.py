"""A very small HTTP server: GET and HEAD of a few paths, a short text for an answer."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from application.ports.journal import Journal
from application.vitals import Answer

_PATIENCE: Final = 5.0
"""Seconds in which a request must have come and its answer must have gone."""
_LARGEST_HEAD: Final = 8 << 10
"""Bytes; the kubelet sends some 150."""
_LARGEST_TEXT: Final = 8 << 10
"""Bytes of an answer's text; the kubelet reads 10 kB."""
_MOST_OPEN: Final = 16
"""Connections. One more closes the oldest: a probe's is answered at once, and the slow must not keep it out."""
_AGAIN_IN: Final = 5.0
"""Seconds until an address that could not be had is tried again."""
_OK, _BAD, _NOT_FOUND, _NOT_ALLOWED, _TOO_LARGE, _UNAVAILABLE = 200, 400, 404, 405, 431, 503
"""Written out, since importing `http` takes 4 ms of a start. Nobody needs the phrases that may come behind them."""


class ProbeServer:
    """Answers on one address from `start` to `stop`, on the event loop: a loop that is stuck does not answer."""

    def __init__(self, host: str, port: int, answers: Mapping[str, Callable[[], Answer]], journal: Journal) -> None:
        self._host = host
        self._port = port
        self._answers = answers
        self._journal = journal
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None] | None] = {}
        """Connections, oldest first, and who answers each. To cancel him asyncio of 3.11 would call an error."""
        self._serving: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin. An address that is taken is told once and tried until it is free: pools are served meanwhile."""
        self._serving = asyncio.get_running_loop().create_task(self._serve(), name="answer probes")
        self._serving.add_done_callback(self._tell_end)

    async def stop(self) -> None:
        """Close the address and every connection."""
        tasks = [task for task in (self._serving, *self._open.values()) if task]
        if self._serving:
            self._serving.cancel()
        for writer in self._open:
            writer.transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self) -> None:
        shown = f"[{self._host}]:{self._port}" if ":" in self._host else f"{self._host}:{self._port}"
        told = ""
        while True:
            try:
                server = await asyncio.start_server(self._converse, self._host, self._port, limit=_LARGEST_HEAD)
            except OSError as error:
                if str(error) != told:
                    told = str(error)
                    self._journal.warning("cannot answer probes", address=shown, reason=told, again_in=_AGAIN_IN)
                await asyncio.sleep(_AGAIN_IN)
                continue
            self._journal.info("answering probes", address=shown)
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                server.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request, one answer."""
        self._open[writer] = asyncio.current_task()
        if len(self._open) > _MOST_OPEN:
            oldest = next(iter(self._open))
            del self._open[oldest]
            oldest.transport.abort()
        try:
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(_PATIENCE):
                    writer.transport.set_write_buffer_limits(0)
                    writer.write(await self._answer(reader))
                    await writer.drain()
        finally:
            self._open.pop(writer, None)
            # The kernel has all of the answer or nobody wants it. After a close() that had to wait this would fail.
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return _response(_TOO_LARGE, f"a request has at most {_LARGEST_HEAD} bytes")
        except asyncio.IncompleteReadError:
            return _response(_BAD, "the request is not complete")
        line = head.partition(b"\r\n")[0].decode("latin-1")
        method, _, rest = line.partition(" ")
        target, _, version = rest.partition(" ")
        if not version.startswith("HTTP/1."):
            return _response(_BAD, "no request of HTTP/1")
        if method not in {"GET", "HEAD"}:
            return _response(_NOT_ALLOWED, "GET or HEAD", "Allow: GET, HEAD\r\n")
        answer = self._answers.get(target.partition("?")[0])
        if answer is None:
            return _response(_NOT_FOUND, f"there are {', '.join(self._answers)}", body=method == "GET")
        said = answer()
        return _response(_OK if said.good else _UNAVAILABLE, "\n".join(said.lines), body=method == "GET")

    def _tell_end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self._journal.error("task ended", task=task.get_name(), exc_info=error)


def _response(status: int, text: str, headers: str = "", *, body: bool = True) -> bytes:
    content = text.encode(errors="backslashreplace")  # names of files may hold what is no character
    if len(content) > _LARGEST_TEXT:
        shown = content[:_LARGEST_TEXT].decode(errors="ignore").encode()
        content = shown + f"\n… {len(content) - len(shown)} bytes more".encode()
    content += b"\n"
    head = (
        f"HTTP/1.1 {status} \r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(content)}\r\nCache-Control: no-store\r\nConnection: close\r\n{headers}\r\n"
    )
    return head.encode() + (content if body else b"")

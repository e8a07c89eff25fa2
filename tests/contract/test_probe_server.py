"""The probe server over real connections, with answers from the test."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import pytest

from adapters.probes import server as probes
from adapters.probes.server import ProbeServer
from application.vitals import Answer
from tests.daemon.ask import Heard, ask, free_port
from tests.fakes.journal import FakeJournal

LIVE: Final = Answer(True, ("live",))
UNREADY: Final = Answer(False, ("not ready", "intel.com/dpdk: no kubelet has listened for 12 s"))
LONG: Final = Answer(False, ("not ready", *("é" * 1000 for _ in range(2000))))
ODD: Final = Answer(False, ("not ready", "reset: \udcff"))
ANSWERS: Final = {"/livez": lambda: LIVE, "/readyz": lambda: UNREADY, "/long": lambda: LONG, "/odd": lambda: ODD}
HEADERS: Final = "Host: 127.0.0.1\r\nUser-Agent: kube-probe/1.37\r\nAccept: */*\r\nConnection: close\r\n\r\n"

Story = Callable[[int], Coroutine[None, None, None]]


@asynccontextmanager
async def serving(port: int, journal: FakeJournal, host: str = "127.0.0.1") -> AsyncIterator[ProbeServer]:
    faults: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    server = ProbeServer(host, port, ANSWERS, journal)
    server.start()
    try:
        async with asyncio.timeout(30):
            while not journal.events:
                await asyncio.sleep(0.01)
            yield server
    finally:
        await server.stop()
    assert faults == []


def play(story: Story) -> None:
    """A story on a server's port, after which the server still answers and then is gone."""

    async def whole() -> None:
        port, journal = free_port(), FakeJournal()
        async with serving(port, journal):
            await story(port)
            assert await ask(port, "/livez") == Heard(200, "live\n")
        with pytest.raises(ConnectionRefusedError):
            await ask(port, "/livez")
        assert journal.events == [("info", "answering probes", {"address": f"127.0.0.1:{port}"})]

    asyncio.run(whole(), debug=True)


def test_yes_is_200_and_no_is_503_with_the_reasons() -> None:
    async def story(port: int) -> None:
        assert await ask(port, "/livez") == Heard(200, "live\n")
        assert await ask(port, "/readyz") == Heard(503, "not ready\nintel.com/dpdk: no kubelet has listened for 12 s\n")
        assert await ask(port, "/readyz?verbose") == await ask(port, "/readyz")

    play(story)


def test_an_answer_that_goes_in_pieces_is_whole_and_its_connection_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """4 MB are more than a socket takes at once."""
    monkeypatch.setattr(probes, "_LARGEST_TEXT", 8 << 20)

    async def story() -> None:
        async with serving(port := free_port(), FakeJournal()) as server:
            assert await ask(port, "/long") == Heard(503, "\n".join(LONG.lines) + "\n")
            async with asyncio.timeout(30):
                while server._open:
                    await asyncio.sleep(0.01)

    asyncio.run(story(), debug=True)


def test_of_a_long_text_the_beginning_is_told_and_how_much_there_is() -> None:
    async def story(port: int) -> None:
        heard = await ask(port, "/long")
        lines = heard.lines
        assert heard.status == 503
        assert lines[:5] == list(LONG.lines[:5])
        assert set(lines[5]) == {"é"}
        told = sum(len(line.encode()) + 1 for line in lines[:-1]) - 1
        assert told in {probes._LARGEST_TEXT, probes._LARGEST_TEXT - 1}
        assert lines[-1] == f"… {len(chr(10).join(LONG.lines).encode()) - told} bytes more"

    play(story)


def test_what_is_no_character_is_told_by_its_number() -> None:
    async def story(port: int) -> None:
        assert await ask(port, "/odd") == Heard(503, "not ready\nreset: \\udcff\n")

    play(story)


def test_head_is_get_without_the_body() -> None:
    async def story(port: int) -> None:
        got = await raw(port, f"GET /readyz HTTP/1.1\r\n{HEADERS}".encode())
        head = await raw(port, f"HEAD /readyz HTTP/1.1\r\n{HEADERS}".encode())
        assert head.endswith(b"\r\n\r\n")
        assert got.startswith(head)

    play(story)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (f"POST /livez HTTP/1.1\r\n{HEADERS}", 405),
        (f"DELETE / HTTP/1.1\r\n{HEADERS}", 405),
        (f"GET / HTTP/1.1\r\n{HEADERS}", 404),
        (f"HEAD /livez/ HTTP/1.1\r\n{HEADERS}", 404),
        (f"GET /../../etc/passwd HTTP/1.1\r\n{HEADERS}", 404),
        (f"GET /livez HTTP/2.0\r\n{HEADERS}", 400),
        (f"GET /livez\r\n{HEADERS}", 400),
        ("\r\n\r\n", 400),
        ("\0\xff" * 500 + "\r\n\r\n", 400),
        ("\x16\x03\x01\x02\0\x01\0\r\n\r\n", 400),  # of TLS
        (f"GET /livez HTTP/1.1\r\nX: {'x' * 9000}\r\n\r\n", 431),
    ],
)
def test_what_is_not_asked_well_is_refused(request_: str, status: int) -> None:
    async def story(port: int) -> None:
        assert (await raw(port, request_.encode("latin-1"))).startswith(f"HTTP/1.1 {status} ".encode())

    play(story)


def test_a_request_that_is_cut_off_hinders_nobody() -> None:
    async def story(port: int) -> None:
        for part in (b"", b"GET", b"GET /livez HTTP/1.1\r\nHost"):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(part)
            writer.close()
            await writer.wait_closed()

    play(story)


def test_a_request_without_end_is_not_kept() -> None:
    async def story(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with suppress(ConnectionError):
            for _ in range(1000):
                writer.write(b"x" * (64 << 10))
                await writer.drain()
            raise AssertionError("64 MB were taken")
        with suppress(ConnectionError):
            await reader.read()
        writer.close()

    play(story)


def test_who_asks_slowly_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "_PATIENCE", 0.2)

    async def story(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with suppress(ConnectionError):
            for byte in b"GET /livez HTTP/1.1\r\n" * 100:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.02)
            raise AssertionError("waited for whoever sends a byte at a time")
        with suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()

    play(story)


def test_many_that_say_nothing_keep_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "_PATIENCE", 3600)

    async def story(port: int) -> None:
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(200)]
        assert await ask(port, "/livez") == Heard(200, "live\n")
        async with asyncio.timeout(20):
            for reader, _ in silent[: -probes._MOST_OPEN]:
                with suppress(ConnectionError):
                    assert await reader.read() == b""
        for _, writer in silent:
            writer.close()

    play(story)


def test_many_that_ask_at_once_are_all_answered() -> None:
    async def story(port: int) -> None:
        for _ in range(5):
            assert {heard.status for heard in await asyncio.gather(*(ask(port, "/livez") for _ in range(10)))} == {200}

    play(story)


def test_a_connection_that_is_open_does_not_delay_the_end() -> None:
    async def story() -> None:
        async with asyncio.timeout(probes._PATIENCE - 1):
            async with serving(port := free_port(), FakeJournal()):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                await asyncio.sleep(0.1)
            writer.close()

    asyncio.run(story())


def test_an_address_that_is_taken_is_told_once_and_had_when_it_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "_AGAIN_IN", 0.05)
    journal = FakeJournal()

    async def story() -> None:
        with socket.socket() as owner:
            owner.bind(("127.0.0.1", 0))
            owner.listen()
            port = owner.getsockname()[1]
            async with serving(port, journal):
                await asyncio.sleep(0.3)
                (told,) = journal.told("cannot answer probes")
                assert told["address"] == f"127.0.0.1:{port}"
                assert "address already in use" in told["reason"]
                owner.close()
                while not journal.told("answering probes"):
                    await asyncio.sleep(0.01)
                assert await ask(port, "/livez") == Heard(200, "live\n")
        assert len(journal.events) == 2

    asyncio.run(story())


def test_an_address_of_ipv6_will_do() -> None:
    async def story() -> None:
        journal = FakeJournal()
        async with serving(port := free_port(), journal, "::1"):
            if not journal.told("answering probes"):
                pytest.skip("no IPv6 here")
            assert journal.told("answering probes") == [{"address": f"[::1]:{port}"}]
            assert await ask(port, "/livez", "::1") == Heard(200, "live\n")

    asyncio.run(story())


async def raw(port: int, request: bytes) -> bytes:
    """Everything that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = b""
    with suppress(ConnectionError):
        while piece := await reader.read(1 << 16):
            answer += piece
    writer.close()
    return answer

"""A kubelet that dies while somebody connects."""

import asyncio
import gc
import os
import socket
from pathlib import Path

import pytest

from tests.fakes.kubelet.front_door import FrontDoor


@pytest.mark.parametrize("turns", range(6))
def test_a_connection_that_comes_with_the_end_is_cut_and_nothing_of_it_stays_open(turns: int, short_path: Path) -> None:
    async def story() -> None:
        door = FrontDoor(short_path / "s", lambda server: None)
        await door.open()
        with socket.socket(socket.AF_UNIX) as caller:
            caller.setblocking(False)
            caller.connect(str(short_path / "s"))
            for _ in range(turns):
                await asyncio.sleep(0)
            await door.slam()
            await asyncio.sleep(0.01)
            gc.collect()  # what was lost would be told now, as a warning
            assert os.listdir(short_path) == ["s"]  # noqa: PTH208
            caller.setblocking(True)
            with pytest.raises((ConnectionResetError, EOFError)):
                _read(caller)

    asyncio.run(story())


def _read(caller: socket.socket) -> None:
    caller.settimeout(60)
    while caller.recv(1024):
        pass
    raise EOFError

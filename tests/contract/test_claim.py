"""Who serves a socket?"""

import asyncio
from pathlib import Path

from adapters.kubelet.claim import live_owner


def test_asking_for_the_owner_of_a_socket_can_be_cancelled_at_any_moment(short_path: Path) -> None:
    """Case I08: else a pool that is being served anew goes on after the daemon was told to stop, which waits for it."""

    async def story() -> None:
        server = await asyncio.start_unix_server(lambda reader, writer: writer.close(), short_path / "s")
        async with server:
            for moment in range(20):
                asking = asyncio.create_task(live_owner(short_path / "s"))
                for _ in range(moment):
                    await asyncio.sleep(0)
                if asking.cancel():
                    await asyncio.wait({asking})
                    assert asking.cancelled(), f"not after {moment} turns of the loop"

    asyncio.run(story())

"""A blocking dial in the manner of grpc.DialContext with WithBlock."""

import asyncio
from pathlib import Path

import grpc

from tests.fakes.kubelet.timing import Timing

# grpc-go's default, which kubelet leaves as it is (clientconn.go).
_LARGEST_MESSAGE = 4 << 20


class DialFailed(Exception):
    """Nobody answered in time."""


async def dial(socket: Path, authority: str, timing: Timing) -> grpc.aio.Channel:
    """Connect, trying again as long as the time lasts."""
    channel = grpc.aio.insecure_channel(
        f"unix:{socket}",
        options=[
            ("grpc.default_authority", authority),
            # Or two channels to one path would be one connection.
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.initial_reconnect_backoff_ms", max(1, int(timing.redial * 1000))),
            ("grpc.max_receive_message_length", _LARGEST_MESSAGE),
        ],
    )
    try:
        await asyncio.wait_for(channel.channel_ready(), timing.dial)
    except BaseException as failure:
        await channel.close()
        if isinstance(failure, TimeoutError):
            raise DialFailed("context deadline exceeded") from None
        raise
    return channel

"""A pool's current list, for any number of streams."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from adapters.kubelet.messages import device_list
from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from domain.announcement import Announced


class Feed:
    """Every stream gets the whole list first and then each later one, or the latest where it was slow."""

    def __init__(self, entries: Sequence[Announced]) -> None:
        self._message = device_list(entries)
        self._changed = asyncio.Event()

    def put(self, entries: Sequence[Announced]) -> None:
        """Make this the list; waking streams only if it differs, since each message costs the kubelet an fsync."""
        message = device_list(entries)
        if message != self._message:
            self._message = message
            self._changed.set()
            self._changed = asyncio.Event()

    async def messages(self) -> AsyncIterator[pb.ListAndWatchResponse]:
        """The lists for one stream; ends only by cancellation."""
        sent: pb.ListAndWatchResponse | None = None
        while True:
            changed, message = self._changed, self._message
            if message is not sent:
                yield message
                sent = message
            await changed.wait()

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
        self._streams = 0
        self._closed = asyncio.Event()
        self._ended = False

    def put(self, entries: Sequence[Announced]) -> None:
        """Make this the list; waking streams only if it differs, since each message costs the kubelet an fsync."""
        message = device_list(entries)
        if message != self._message:
            self._message = message
            self._changed.set()
            self._changed = asyncio.Event()

    async def end(self, within: float) -> None:
        """Make the list empty and end every stream behind it, for so many seconds at most.

        A stream that is cut instead may lose what was sent last.
        """
        self.put(())
        self._ended = True
        self._changed.set()
        try:
            async with asyncio.timeout(within):
                while self._streams:
                    self._closed.clear()
                    await self._closed.wait()
        except TimeoutError:
            return

    async def messages(self) -> AsyncIterator[pb.ListAndWatchResponse]:
        """The lists for one stream; ends behind the last one, or by cancellation."""
        sent: pb.ListAndWatchResponse | None = None
        self._streams += 1
        try:
            while True:
                changed, message = self._changed, self._message
                if message is not sent:
                    yield message
                    sent = message
                elif self._ended:
                    return
                else:
                    await changed.wait()
        finally:
            self._streams -= 1
            self._closed.set()

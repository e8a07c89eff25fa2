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
        self._taken: dict[object, pb.ListAndWatchResponse | None] = {}
        """What each open stream was last given."""
        self._progress = asyncio.Event()

    def put(self, entries: Sequence[Announced]) -> None:
        """Make this the list; waking streams only if it differs, since each message costs the kubelet an fsync."""
        message = device_list(entries)
        if message != self._message:
            self._message = message
            self._changed.set()
            self._changed = asyncio.Event()

    async def heard(self, within: float) -> None:
        """Return when every stream has taken the list, or none is open, or after so many seconds."""
        try:
            async with asyncio.timeout(within):
                while self._behind:
                    self._progress.clear()
                    await self._progress.wait()
        except TimeoutError:
            return

    async def messages(self) -> AsyncIterator[pb.ListAndWatchResponse]:
        """The lists for one stream; ends only by cancellation."""
        stream = object()
        sent: pb.ListAndWatchResponse | None = None
        self._taken[stream] = sent
        try:
            while True:
                changed, message = self._changed, self._message
                if message is not sent:
                    yield message
                    sent = self._taken[stream] = message
                    self._progress.set()
                await changed.wait()
        finally:
            del self._taken[stream]
            self._progress.set()

    @property
    def _behind(self) -> bool:
        return any(taken is not self._message for taken in self._taken.values())

"""Port PoolPublisher that remembers what was published."""

from collections.abc import Collection, Sequence

from domain.announcement import Announced
from domain.resource_name import ResourceName


class FakePoolPublisher:
    """The lists as the kubelet would have them, and every message in order."""

    def __init__(self) -> None:
        self.lists: dict[ResourceName, tuple[Announced, ...]] = {}
        self.messages: list[tuple[str, tuple[Announced, ...]]] = []
        self.stopped = False
        self.others: set[ResourceName] = set()
        """What another process serves."""

    async def publish(self, resource: ResourceName, entries: Sequence[Announced]) -> None:
        if self.lists.get(resource) != tuple(entries):
            self.lists[resource] = tuple(entries)
            self.messages.append((str(resource), tuple(entries)))

    async def withdraw(self, resource: ResourceName) -> None:
        await self.publish(resource, ())
        self.lists.pop(resource, None)

    async def neighbours(self) -> Collection[ResourceName]:
        return self.others - self.lists.keys()

    async def stop(self) -> None:
        self.stopped = True
        self.lists.clear()

"""Port DeviceUse with holdings that a test sets."""

from domain.announcement import Holding
from domain.resource_name import ResourceName


class FakeDeviceUse:
    """None stands for a kubelet that cannot be asked."""

    def __init__(
        self, held: frozenset[Holding] | None = frozenset(), given: frozenset[ResourceName] = frozenset()
    ) -> None:
        self.held = held
        self.given = given
        self.doubtful: frozenset[Holding] = frozenset()

    async def holdings(self) -> frozenset[Holding] | None:
        return self.held

    async def granted(self) -> frozenset[ResourceName]:
        return self.given

"""Port DeviceUse with holdings that a test sets."""

from domain.announcement import Holding


class FakeDeviceUse:
    """None stands for a kubelet that cannot be asked."""

    def __init__(self, held: frozenset[Holding] | None = frozenset()) -> None:
        self.held = held

    async def holdings(self) -> frozenset[Holding] | None:
        return self.held

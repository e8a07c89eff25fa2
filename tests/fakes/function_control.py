"""Port FunctionControl that does what it is told, to a host that a test holds."""

from collections.abc import Callable

from domain.errors import FunctionRefused
from domain.host import PciFunction


class FakeFunctionControl:
    """Remembers what was done; `refusal` makes it refuse; `bound` may change the test's host."""

    def __init__(self) -> None:
        self.resets: list[str] = []
        self.binds: list[tuple[str, str]] = []
        self.refusal = ""
        self.closed: set[str] = set()
        self.bound: Callable[[PciFunction, str], None] = lambda function, driver: None

    def reset(self, function: PciFunction) -> None:
        self._refuse(function, "reset")
        self.resets.append(str(function.address))

    def may_be_open(self, function: PciFunction) -> bool:
        return str(function.address) not in self.closed

    def bind(self, function: PciFunction, driver: str) -> None:
        self._refuse(function, f"bind {driver}")
        self.binds.append((str(function.address), driver))
        self.bound(function, driver)

    def _refuse(self, function: PciFunction, step: str) -> None:
        if self.refusal:
            raise FunctionRefused(str(function.address), step, self.refusal)

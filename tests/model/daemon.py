"""The daemon as the model drives it, in this process or in one of its own."""

from collections.abc import Sequence
from typing import Protocol


class Daemon(Protocol):
    lingering: float
    """Seconds for which a device that was handed out may count as held although no pod has it any more."""
    patience: float
    """Seconds after which the kubelet must have the right lists."""

    @property
    def running(self) -> bool: ...

    async def start(self) -> None: ...

    async def terminate(self) -> None:
        """As SIGTERM does."""

    async def kill(self) -> None:
        """As SIGKILL does: sockets and half-written files stay."""

    async def noticed(self) -> None:
        """Return when the configuration as it is, a good one, has been read."""

    def reload(self) -> None:
        """As SIGHUP does."""

    def age(self) -> None:
        """Let a while go by for whatever waits for minutes, where the model has the clock in its hands."""

    def faults(self) -> Sequence[str]:
        """What it did not expect itself."""

    def census(self) -> dict[str, int]:
        """How much it has of what must not grow."""

    def log(self) -> Sequence[str]:
        """What it said last."""

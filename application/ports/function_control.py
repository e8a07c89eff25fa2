"""What can be done to a PCI function, beyond reading it."""

from typing import Protocol

from domain.host import PciFunction


class FunctionControl(Protocol):
    """Changes the host. The methods block and raise FunctionRefused, naming function, step and errno."""

    def reset(self, function: PciFunction) -> None:
        """Reset it, so that nothing of its last user is left in it."""

    def bind(self, function: PciFunction, driver: str) -> None:
        """Bind it to another driver; what was bound before is bound again if that fails.

        Never while its vfio group is open.
        """

"""What can be done to a PCI function, beyond reading it."""

from typing import Protocol

from domain.host import PciFunction


class FunctionControl(Protocol):
    """Changes the host. The methods block. Those that change raise FunctionRefused, naming function, step and errno."""

    def reset(self, function: PciFunction) -> None:
        """Reset it, so that nothing of its last user is left in it.

        Never one that is in use: whose interface is in another network namespace, or whose vfio group is known to be
        open.
        """

    def may_be_open(self, function: PciFunction) -> bool:
        """Whether somebody may have it open through vfio; so it may, too, where that cannot be asked."""

    def bind(self, function: PciFunction, driver: str) -> None:
        """Bind it to another driver; what was bound before is bound again if that fails.

        Never while its vfio group is open.
        """

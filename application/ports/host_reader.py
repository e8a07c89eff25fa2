"""The host as it is now."""

from collections.abc import Collection
from typing import Protocol

from domain.host import Host
from domain.pci import PciAddress


class HostReader(Protocol):
    """Reads facts from the host. Both methods block; what cannot be read is left out, never raised."""

    def read(self) -> Host:
        """Everything, in one pass."""

    def reread(self, host: Host, addresses: Collection[PciAddress]) -> Host:
        """The host with the facts of some functions and their device nodes read afresh.

        A function that has gone is missing in the result; all else stays as in ``host``.
        """

"""The host as it is now."""

from collections.abc import Collection
from typing import Protocol

from domain.host import Host


class HostReader(Protocol):
    """Reads facts from the host. Both methods block; what cannot be read is left out, never raised.

    Both raise HostUnreadable where this process lacks the means to read, or what tells of the host's own use is there
    and cannot be read: then nothing is known.
    """

    def read(self) -> Host:
        """Everything, in one pass."""

    def reread(self, host: Host, ids: Collection[str]) -> Host:
        """The host with the facts of some devices, by their ids, and their device nodes read afresh.

        A device that has gone is missing in the result; all else stays as in ``host``.
        """

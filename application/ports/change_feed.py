"""Who tells that something changed."""

from collections.abc import Callable
from enum import Enum
from typing import Protocol


class Change(Enum):
    """What may have changed. It is looked at again as a whole: a change is only a reason to look."""

    HOST = "host"
    CONFIGURATION = "configuration"
    KUBELET = "kubelet"


class ChangeFeed(Protocol):
    """One source of changes, on the running event loop."""

    @property
    def name(self) -> str:
        """What it follows, for people."""

    def start(self, wake: Callable[[Change], None]) -> None:
        """Call ``wake`` from now on, often or seldom, never from another thread.

        Raises:
            OSError: if this source is not to be had here; the others and a timer go on.
        """

    def stop(self) -> None:
        """Call it no more; also after a start that failed."""

"""What a look cannot do without: files whose silence would change what all the others mean.

A route table that says nothing makes the host's own uplink look free. So one that is there and cannot be read ends the
look; one that is not there at all, as in a copy of a host without /proc, is said.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from adapters.sysfs.tree import Tree
from application.ports.journal import Journal
from domain.errors import HostUnreadable

Content = TypeVar("Content")


class Foundations:
    """Reads such files and directories. Without a journal nothing is said of those that are missing.

    All methods raise HostUnreadable for what is there and cannot be read.
    """

    def __init__(self, tree: Tree, journal: Journal | None) -> None:
        self._tree = tree
        self._journal = journal
        self._missing: set[str] = set()

    def text(self, path: str, if_missing: str | None = None) -> str:
        """A file; empty if it is missing, with this consequence. None: it may well be, and nothing is said."""
        return self._ask(self._tree.read, path, if_missing) or ""

    def names(self, path: str, if_missing: str | None = None) -> Sequence[str]:
        """The names in a directory, likewise."""
        return self._ask(self._tree.listing, path, if_missing) or ()

    def _ask(self, question: Callable[[str], Content], path: str, if_missing: str | None) -> Content | None:
        try:
            found = question(path)
        except FileNotFoundError as error:
            if if_missing and self._journal and path not in self._missing:
                self._missing.add(path)
                reason = str(error.strerror)
                self._journal.warning("missing on the host", path=error.filename, reason=reason, consequence=if_missing)
            return None
        except OSError as error:
            remedy = "it must be readable, or nobody knows what the host uses itself"
            raise HostUnreadable(error.filename, str(error.strerror), remedy) from error
        self._missing.discard(path)
        return found

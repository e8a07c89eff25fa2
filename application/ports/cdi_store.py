"""Where container runtimes look for CDI files."""

from collections.abc import Collection, Sequence
from typing import Protocol

from domain.cdi import CdiFile


class CdiStore(Protocol):
    """Holds the files of this plugin, and of the one it replaced. The methods block.

    All raise FilesUnwritable, with path and reason, where the directory cannot be used.
    """

    def read(self, prefixes: Collection[str]) -> Sequence[CdiFile]:
        """The files of resources below these prefixes; one that cannot be understood is left out, and said."""

    def write(self, files: Sequence[CdiFile]) -> None:
        """Make these the content of their files, each replaced as a whole; a file without devices is removed."""

"""The one door to the host's files, so that the real `/`, a recorded tree and a simulated one behave alike."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from adapters.files.shortage import check_shortage

_MAX_ATTRIBUTE: Final = 65536
"""A sysfs attribute is one page; /proc/net/route and its like grow with the host and are read in pieces."""


class Tree:
    """Files below a root. What is not there, vanishes or cannot be read is None or empty.

    `read` and `listing` raise OSError instead.

    All methods raise HostUnreadable where it is this process that is short of files or memory.
    """

    def __init__(self, root: Path) -> None:
        self._root = str(root).rstrip("/")

    def read(self, path: str) -> str:
        """The text of a file.

        Raises:
            OSError: if it cannot be read, as ENOENT, ENODEV, EIO, EINVAL or EACCES.
        """
        whole = f"{self._root}/{path}"
        try:
            file = os.open(whole, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            try:
                text = os.read(file, _MAX_ATTRIBUTE)
                while piece := os.read(file, _MAX_ATTRIBUTE) if len(text) >= _MAX_ATTRIBUTE else b"":
                    text += piece
            finally:
                os.close(file)
        except OSError as error:
            error.filename = whole  # read(2) knows of none
            check_shortage(error)
            raise
        return text.decode(errors="replace")

    def text(self, path: str) -> str | None:
        """The text of an attribute without its white space; None if it has none."""
        try:
            return self.read(path).strip() or None
        except OSError:
            return None

    def number(self, path: str) -> int | None:
        """A decimal or 0x attribute."""
        text = self.text(path)
        try:
            return None if text is None else int(text, 0)
        except ValueError:
            return None

    def names(self, path: str) -> Sequence[str]:
        """The names in a directory, in no order."""
        try:
            return self.listing(path)
        except OSError:
            return ()

    def listing(self, path: str) -> Sequence[str]:
        """The names in a directory, in no order.

        Raises:
            OSError: if it cannot be read.
        """
        try:
            return os.listdir(f"{self._root}/{path}")
        except OSError as error:
            check_shortage(error)
            raise

    def target(self, path: str) -> str | None:
        """Where a symbolic link points."""
        try:
            return os.readlink(f"{self._root}/{path}")
        except OSError as error:
            check_shortage(error)
            return None

    def target_name(self, path: str) -> str | None:
        """The last part of where a symbolic link points."""
        target = self.target(path)
        return None if target is None else target.rpartition("/")[2]

    def exists(self, path: str) -> bool:
        """Whether there is anything at a path."""
        return os.path.exists(f"{self._root}/{path}")

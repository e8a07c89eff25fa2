"""Telling what a file says from what this process lacks to read it."""

import errno
from typing import Final

from domain.errors import HostUnreadable

_OURS: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


def check_shortage(error: OSError) -> None:
    """Return if the error tells something of what was read.

    Raises:
        HostUnreadable: if it is a shortage of files or memory here: nothing was learnt, least of all that it is gone.
    """
    if error.errno in _OURS:
        raise HostUnreadable(error.filename or "the kernel", str(error.strerror)) from error

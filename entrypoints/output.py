"""Standard output as a shell hands it over: a pipe that is closed early, a full disk, or nothing at all."""

import errno
import io
import os
import signal
import sys
from typing import Final

LOST: Final = 2
"""Exit code of a command whose answer could not be written."""


def say(text: str) -> int:
    """Write a text, and whatever waits to be written. Returns 0, or the exit code where it does not get there.

    A reader that has had enough, as `head`, is no trouble: the code is the one of a program that SIGPIPE ends.
    """
    if sys.stdout is None:
        return _lost(os.strerror(errno.EBADF)) if text else 0
    try:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # JSON may have halves of surrogate pairs in it
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        abandon()
        return 128 + signal.SIGPIPE
    except OSError as error:
        abandon()
        return _lost(str(error.strerror))
    return 0


def abandon() -> None:
    """Let what is written from now on, and what waits, go nowhere: at its end the interpreter would try once more."""
    if sys.stdout is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _lost(reason: str) -> int:
    print(f"sriovdp: standard output: {reason}", file=sys.stderr)
    return LOST

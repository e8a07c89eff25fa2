"""A recorded or simulated host as a source of changes (port ChangeFeed).

The kernel sends uevents about its own sysfs alone, and inotify tells nothing of that one: a tree below another root is
watched directory by directory.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from adapters.files.inotify import CLOSE_WRITE, ENTRIES, DirectoryWatch
from application.ports.change_feed import Change

_PARTS: Final = ("sys", "proc/net", "dev")


class TreeFeed:
    """Wakes when anything below the root changes."""

    name = "the tree of a host"

    def __init__(self, root: Path) -> None:
        self._root = root
        self._watch: DirectoryWatch | None = None

    def start(self, wake: Callable[[Change], None]) -> None:
        def changed(made: Sequence[str]) -> None:
            for directory in made:
                _follow(watch, directory)
            wake(Change.HOST)

        watch = DirectoryWatch(ENTRIES | CLOSE_WRITE, changed)
        watch.start()
        self._watch = watch
        for part in _PARTS:
            _follow(watch, f"{self._root}/{part}")

    def stop(self) -> None:
        if self._watch:
            self._watch.stop()


def _follow(watch: DirectoryWatch, top: str) -> None:
    """Watch a directory and all below it; each before it is looked into, so that nothing appears unseen."""
    for directory, below, _ in os.walk(top):
        watch.add([directory])
        with suppress(FileNotFoundError):
            below[:] = [entry.name for entry in os.scandir(directory) if entry.is_dir(follow_symlinks=False)]

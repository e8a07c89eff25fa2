"""The configuration file as a source of changes (port ChangeFeed), through the links of a mounted ConfigMap."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from adapters.files.inotify import CLOSE_WRITE, ENTRIES, DirectoryWatch
from application.ports.change_feed import Change


class ConfigFeed:
    """Wakes when anything happens in a directory that the file's path goes through.

    The kubelet updates a ConfigMap by making its link ..data point to another directory: the file itself never changes.
    """

    name = "the configuration file"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._watch: DirectoryWatch | None = None

    def start(self, wake: Callable[[Change], None]) -> None:
        def changed(_: Sequence[str]) -> None:
            watch.watch(_directories(self._path))
            wake(Change.CONFIGURATION)

        watch = DirectoryWatch(ENTRIES | CLOSE_WRITE, changed)
        watch.start()
        self._watch = watch
        watch.watch(_directories(self._path))

    def stop(self) -> None:
        if self._watch:
            self._watch.stop()


def _directories(path: Path) -> Iterator[str]:
    """The directories in which something must change for the path to lead to another file."""
    seen = 0
    while seen < 40:  # noqa: PLR2004 - as many links as the kernel follows (path_resolution(7))
        yield from map(str, _existing(path.parent))
        try:
            target = os.readlink(path)  # noqa: PTH115 - relative to the link's directory
        except OSError:
            break
        path = path.parent / target
        seen += 1
    yield os.path.realpath(path.parent)


def _existing(directory: Path) -> Iterator[Path]:
    """The directory and, where it is a link or missing, the one in which that would change."""
    yield directory
    while directory != directory.parent and (directory.is_symlink() or not directory.is_dir()):
        directory = directory.parent
        yield directory

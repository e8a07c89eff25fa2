"""The configuration file as a source of changes (port ChangeFeed), through the links of a mounted ConfigMap."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from adapters.files.inotify import CLOSE_WRITE, ENTRIES, DirectoryWatch
from application.ports.change_feed import Change

_MOST_LINKS: Final = 40


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
    """The directories in which something must change for the path to lead to another file.

    That of the file, and those of every link, or of what is missing, on the way to it (path_resolution(7)).
    """
    directory, parts, links = "/", list(path.absolute().parts[1:]), 0
    while parts:
        part = parts.pop(0)
        entry = os.path.normpath(f"{directory}/{part}")
        try:
            target = os.readlink(entry)  # noqa: PTH115 - as it is written
        except OSError:
            if not parts or not os.path.isdir(entry):  # noqa: PTH112 - beside its neighbours
                yield directory
            directory = entry
            continue
        yield directory
        links += 1
        if links > _MOST_LINKS:
            return
        if target.startswith("/"):
            directory = "/"
        parts = [*Path(target.lstrip("/")).parts, *parts]

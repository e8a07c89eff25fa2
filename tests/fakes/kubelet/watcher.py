"""Which sockets in plugins_registry ought to be registered: pm/pluginwatcher/plugin_watcher.go.

The walk of a directory watches sub-directories with any name, but a dot-named directory that
appears later is passed over. Only an unlink ends a socket; a rename away is not seen.
"""

import itertools
import os
import stat
from pathlib import Path

from tests.fakes.kubelet.inotify import Event, Inotify
from tests.fakes.kubelet.journal import Journal


class Watcher:
    def __init__(self, root: Path, journal: Journal) -> None:
        # Path to a mark that is new whenever the socket is: a re-created one is another one.
        self.wanted: dict[Path, int] = {}
        self._root = root
        self._journal = journal
        self._marks = itertools.count()
        self._inotify = Inotify(self._handle)

    def start(self) -> None:
        self._root.mkdir(mode=0o750, exist_ok=True)
        self._walk(self._root)

    def close(self) -> None:
        self._inotify.close()

    def _handle(self, event: Event) -> None:
        if event.appeared:
            self._appeared(event.path)
        elif self.wanted.pop(event.path, None) is not None:
            self._journal.note(f"Removing socket path from desired state cache: {event.path}")

    def _appeared(self, path: Path) -> None:
        if path.name.startswith("."):
            return
        try:
            mode = path.stat().st_mode
        except OSError as error:
            self._journal.note(f"stat file {path} failed: {error}")
            return
        if stat.S_ISDIR(mode):
            self._walk(path)
        elif stat.S_ISSOCK(mode):
            self.wanted[path] = next(self._marks)
            self._journal.note(f"Adding socket path to desired state cache: {path}")

    def _walk(self, top: Path) -> None:
        for directory, _, names in os.walk(top):
            self._inotify.watch(Path(directory))
            for name in sorted(names):
                path = Path(directory, name)
                if path.is_socket():
                    self._appeared(path)

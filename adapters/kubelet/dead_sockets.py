"""Sockets that a killed process left: the kubelet dials them for ever, or takes them for a sign of the node's life."""

from collections.abc import Collection
from pathlib import Path

from adapters.kubelet.claim import live_owner
from adapters.kubelet.socket_path import has_prefix, identity, is_hidden
from application.ports.journal import Journal

Identity = tuple[int, int, int]


class DeadSockets:
    """Removes those that are called like a pool of one of our prefixes, whether there is such a pool or not.

    Other plugins may use such names, too, and one that is just starting has bound its socket and does not listen yet:
    what is removed has refused connections twice.
    """

    def __init__(self, directory: Path, journal: Journal) -> None:
        self._directory = directory
        self._journal = journal
        self._swept: set[str] = set()
        self._suspects: dict[Path, Identity] = {}

    async def sweep(self, prefixes: Collection[str]) -> None:
        """Look at the sockets of prefixes that were not looked at before, and again at those that were dead then."""
        suspects, self._suspects = self._suspects, {}
        new = [prefix for prefix in prefixes if prefix not in self._swept]
        self._swept.update(new)
        if not suspects and not new:
            return
        try:
            dead = [path for path, seen in suspects.items() if await _dead(path) == seen]
            for path in dead:
                path.unlink(missing_ok=True)
            self._suspects = {path: found for path in self._named(new) if (found := await _dead(path))}
        except OSError as error:
            reason = str(error.strerror)
            self._journal.warning("sockets not looked at", directory=str(self._directory), reason=reason)
            return
        if dead:
            reason = "a process that was killed left them"
            self._journal.info("dead sockets removed", sockets=len(dead), first=min(dead).name, reason=reason)

    def _named(self, prefixes: Collection[str]) -> list[Path]:
        return [
            path
            for path in (self._directory.iterdir() if prefixes else ())
            if is_hidden(path.name) or any(has_prefix(path.name, prefix) for prefix in prefixes)
        ]


async def _dead(path: Path) -> Identity | None:
    """What tells a socket from a later one at its path; None if it is none, or somebody serves it."""
    found = identity(path)
    return found if found and path.is_socket() and await live_owner(path) is None else None

"""device-plugins at a kubelet's start: dm/manager.go CleanupPluginDirectory."""

import stat
from pathlib import Path

from tests.fakes.kubelet import checkpoint
from tests.fakes.kubelet.release import Release


def clean_up(directory: Path, release: Release) -> None:
    """Remove every socket but spare directories; 1.32 removes all the other files as well.

    The look goes through symbolic links: a link to a socket is removed.
    """
    for path in directory.iterdir():
        if path.name == checkpoint.NAME or path.is_dir():
            continue
        try:
            is_socket = stat.S_ISSOCK(path.stat().st_mode)
        except FileNotFoundError:
            is_socket = False
        if is_socket or not release.cleans_only_sockets:
            path.unlink(missing_ok=True)


def looks_new(directory: Path) -> bool:
    """Whether a kubelet takes its node for a re-created one and zeroes extended resources.

    dm/manager.go ShouldResetExtendedResourceCapacity: any file without a leading dot prevents it.
    """
    return not directory.is_dir() or all(p.name.startswith(".") for p in directory.iterdir())

"""An operating system that says no: errors for paths, and devices that vanish while they are read."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from adapters.sysfs import tree
from adapters.sysfs.vf_places import DEVICES

NUMBERS = (errno.EIO, errno.EACCES, errno.ENODEV, errno.EINVAL, errno.ENOENT, errno.EOPNOTSUPP, errno.ELOOP)
CALLS = ("open", "read", "listdir", "readlink", "exists")
ENDINGS = (
    *(f".{f}/{name}" for f in (0, 1) for name in ("uevent", "class", "vendor", "driver", "net", "numa_node", "physfn")),
    *(f".{f}" for f in (0, 1)),
    *("/infiniband", "/infiniband_verbs", "/ibdev", "/uio", "/vfio-dev", "/iommu_group", "/sriov_numvfs", "/sfnum"),
    *("/net/route", "/ipv6_route", "class/net", "vdpa/devices", "dev/vfio", "dev/infiniband", "dev", "/type"),
)

Fault = tuple[str, str, int]
"""A call, how a path must end for it to fail, and with which error."""


def faults() -> SearchStrategy[list[Fault]]:
    fault = st.tuples(st.sampled_from(CALLS), st.sampled_from(ENDINGS), st.sampled_from(NUMBERS))
    return st.lists(fault, max_size=3)


class Watched:
    """What was seen of the host while it was read."""

    def __init__(self) -> None:
        self.devices: list[str] = []


@contextmanager
def failing(root: Path, chosen: list[Fault], vanishing: Callable[[int], None]) -> Iterator[Watched]:
    """Let the reader of hosts, and nobody else, meet these; *vanishing* is told of every call by its number."""
    system = _System(root, chosen, vanishing)
    path = SimpleNamespace(exists=system.exists)
    with mock.patch.object(tree, "os", SimpleNamespace(**{**vars(os), **system.calls(), "path": path})):
        yield system.watched


class _System:
    def __init__(self, root: Path, chosen: list[Fault], vanishing: Callable[[int], None]) -> None:
        self._root = str(root)
        self._chosen = chosen
        self._vanishing = vanishing
        self._calls = 0
        self._open: dict[int, str] = {}
        self.watched = Watched()

    def calls(self) -> dict[str, Callable[..., Any]]:
        return {"open": self.open, "read": self.read, "listdir": self.listdir, "readlink": self.readlink}

    def open(self, path: str, flags: int) -> int:
        self._meet("open", path)
        file = os.open(path, flags)
        self._open[file] = path
        return file

    def read(self, file: int, length: int) -> bytes:
        self._meet("read", self._open[file])
        return os.read(file, length)

    def listdir(self, path: str) -> list[str]:
        self._meet("listdir", path)
        names = os.listdir(path)  # noqa: PTH208 - the very call
        if path == f"{self._root}/{DEVICES}":
            self.watched.devices = names
        return names

    def readlink(self, path: str) -> str:
        self._meet("readlink", path)
        return os.readlink(path)  # noqa: PTH115

    def exists(self, path: str) -> bool:
        try:
            self._meet("exists", path)
        except OSError:
            return False
        return os.path.exists(path)  # noqa: PTH110

    def _meet(self, call: str, path: str) -> None:
        self._calls += 1
        self._vanishing(self._calls)
        for failing_call, ending, number in self._chosen:
            if failing_call == call and path.endswith(ending):
                raise OSError(number, os.strerror(number), path)

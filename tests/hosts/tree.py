"""A host's files below a root directory, and how the kernel writes links in them."""

import os
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Final

#: Directories that a running kernel has without a single device.
ALWAYS: Final = (
    "dev",
    "proc/net",
    "sys/bus/auxiliary/devices",
    "sys/bus/pci/devices",
    "sys/bus/pci/drivers",
    "sys/class/net",
    "sys/kernel/iommu_groups",
)


@lru_cache(maxsize=1024)
def relative(directory: str, target_parent: str) -> str:
    """The way from *directory* to *target_parent*, ending in a slash unless it is empty."""
    have, want = directory.split("/"), target_parent.split("/")
    shared = 0
    for have_step, want_step in zip(have, want, strict=False):
        if have_step != want_step:
            break
        shared += 1
    return "".join(f"{step}/" for step in [".."] * (len(have) - shared) + want[shared:])


class Tree:
    """Files below *root*; every path given or taken is relative to it (``sys/...``, ``dev/...``).

    What is written over appears whole and what is deleted vanishes whole, as in sysfs: a reader
    meanwhile never sees half a text or an emptied directory.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._base = f"{root}/"
        self._made: set[str] = set()
        self._spare = 0
        for path in ALWAYS:
            self.directory(path)

    def directory(self, path: str) -> None:
        if path not in self._made:
            os.makedirs(self._base + path, exist_ok=True)  # noqa: PTH103 - ten times faster
            self._made.add(path)

    def text(self, path: str, content: str | int) -> None:
        """Write an attribute; the kernel ends what is not empty with a newline."""
        self._parent(path)
        data = f"{content}\n".encode() if content != "" else b""
        name = self._base + path
        try:
            file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError:
            aside = self._aside()
            aside.write_bytes(data)
            aside.replace(name)
            return
        if data:
            os.write(file, data)
        os.close(file)

    def node(self, path: str) -> None:
        """Make a device node: in a simulated host an empty regular file."""
        self.text(path, "")

    def link(self, path: str, target: str) -> None:
        """Link *path* to *target*, by the relative way the kernel writes.

        The kernel climbs to the nearest directory that also holds the target's *parent*, so a
        link to a directory above itself names it: ``net/ens1f0/device -> ../../../0000:3b:00.0``.
        """
        parent, _, name = target.rpartition("/")
        self.raw_link(path, relative(path.rpartition("/")[0], parent) + name)

    def raw_link(self, path: str, text: str) -> None:
        """Link with *text* as it stands."""
        self._parent(path)
        os.symlink(text, self._base + path)  # noqa: PTH211 - as above

    def delete(self, path: str) -> None:
        """Remove a file, a link, or a directory with all below; nothing there is fine."""
        victim = self.root / path
        if victim.is_symlink() or not victim.is_dir():
            victim.unlink(missing_ok=True)
            return
        aside = self._aside()
        victim.replace(aside)
        shutil.rmtree(aside)
        self._made.clear()

    def delete_if_empty(self, path: str) -> None:
        if (self.root / path).is_dir() and not self.names(path):
            self.delete(path)

    def read(self, path: str) -> str:
        return (self.root / path).read_text().rstrip("\n")

    def names(self, path: str) -> list[str]:
        """Names in a directory, sorted; empty when there is none."""
        place = self.root / path
        return sorted(p.name for p in place.iterdir()) if place.is_dir() else []

    def exists(self, path: str) -> bool:
        return os.path.lexists(self._base + path)

    def _parent(self, path: str) -> None:
        self.directory(path.rpartition("/")[0])

    def _aside(self) -> Path:
        self._spare += 1
        return self.root / f".aside{self._spare}"

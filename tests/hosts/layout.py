"""A host as plain data: files, links and directories by their paths."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tests.hosts.tree import Tree


@dataclass(frozen=True, slots=True)
class Layout:
    """Texts without their last newline, link targets as they stand, directories.

    Paths are relative to the host's root. Empty text gives an empty file; so are device nodes.
    """

    files: Mapping[str, str]
    links: Mapping[str, str]
    directories: tuple[str, ...] = ()

    def lay(self, root: Path) -> Tree:
        tree = Tree(root)
        for directory in self.directories:
            tree.directory(directory)
        for path, text in self.files.items():
            tree.text(path, text)
        for path, target in self.links.items():
            tree.raw_link(path, target)
        return tree

    def replace(self, before: "Layout", tree: Tree) -> None:
        """Make of *before*, which lies in *tree*, this one: what differs goes, comes or changes."""
        gone = before.all_directories() - self.all_directories()
        for path in sorted({*before.files, *before.links} - {*self.files, *self.links}):
            tree.delete(path)
        for path in sorted(gone):
            tree.delete(path)
        for path in sorted(self.all_directories()):
            tree.directory(path)
        for path, text in self.files.items():
            if before.files.get(path) != text:
                tree.text(path, text)
        for path, target in self.links.items():
            if before.links.get(path) != target:
                tree.delete(path)
                tree.raw_link(path, target)

    def all_directories(self) -> set[str]:
        """Those that are named and those that anything lies in."""
        places = [*self.directories, *(str(PurePosixPath(p).parent) for p in (*self.files, *self.links))]
        return {str(d) for p in places for d in (PurePosixPath(p), *PurePosixPath(p).parents)}

"""From located JSON to plain data under the keys of the schema, with a place for every value."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.config.located_json import Located, Members
from adapters.config.schema import Entry, FileEntry
from application.ports.pool_configuration import Problem

Path = tuple[str | int, ...]
"""Keys and positions from the root of the file to a value."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands in the text."""

    offset: int
    where: str
    """As a person would write it: resourceList[0].selectors.vendors[1]."""


@dataclass(slots=True)
class Document:
    """The file as plain data.

    Keys match in any letter case, as in Go's encoding/json; of a key written twice the last one counts; null is as good
    as nothing; selectors may be an object instead of a list.
    """

    text: str
    data: Any = None
    places: dict[Path, Place] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)

    @classmethod
    def of(cls, text: str, root: Located) -> "Document":
        """Make plain data of a parsed text."""
        document = cls(text)
        document.data = document._plain(root, (), "", FileEntry)
        return document

    def problem(self, path: Path, message: str, hint: str | None = None, *, fatal: bool = True) -> Problem:
        """A problem with the value at a path, or with the innermost value around it that the file has."""
        inner = path
        while inner and inner not in self.places:
            inner = inner[:-1]
        place = self.places[inner]
        missing = ".".join(str(part) for part in path[len(inner) :])
        where = ".".join(part for part in (place.where, missing) if part)
        line, column = line_and_column(self.text, place.offset)
        return Problem(where, line, column, message, hint, fatal)

    def prune(self, path: Path) -> None:
        """Take the innermost member around a path out of the data, unless one around that was taken out already."""
        inner = path
        while inner and not (isinstance(inner[-1], str) and inner in self.places):
            inner = inner[:-1]
        around = self.data
        for part in inner[:-1]:
            around = around.get(part) if isinstance(around, dict) else around[part]
            if around is None:
                return
        if inner:
            around.pop(inner[-1], None)

    def _plain(self, located: Located, path: Path, where: str, entry: type[Entry] | None) -> Any:
        self.places[path] = Place(located.offset, where)
        value = located.value
        if isinstance(value, Members):
            return dict(self._members(value, path, where, entry))
        if isinstance(value, list):
            return [self._plain(v, (*path, i), f"{where}[{i}]", entry) for i, v in enumerate(value)]
        return value

    def _members(
        self, members: Members, path: Path, where: str, entry: type[Entry] | None
    ) -> Iterator[tuple[str, Any]]:
        seen: dict[str, Located] = {}
        keys = _keys(entry) if entry else {}
        for written, member in members:
            key = keys.get(written.lower()) if entry else written
            shown = written.encode(errors="backslashreplace").decode()  # half a surrogate pair cannot be printed
            inner = f"{where}.{shown}" if where else shown
            if key is None:
                self._warn(member, inner, f"unknown key {written!r}", _suggestion(written, keys))
                continue
            if key in seen:
                self._warn(member, inner, f"{written!r} is here a second time; the last one counts", None)
            seen[key] = member
            if member.value is None:
                continue
            inner_entry = entry.inner.get(key) if entry else None
            if inner_entry and isinstance(member.value, Members):
                self.places[*path, key] = Place(member.offset, inner)
                yield key, [self._plain(member, (*path, key, 0), inner, inner_entry)]
            else:
                yield key, self._plain(member, (*path, key), inner, inner_entry)

    def _warn(self, member: Located, where: str, message: str, hint: str | None) -> None:
        line, column = line_and_column(self.text, member.key_offset)
        self.warnings.append(Problem(where, line, column, message, hint, fatal=False))


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Both from 1; the column counts characters."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _keys(entry: type[Entry]) -> Mapping[str, str]:
    names = (info.alias or name for name, info in entry.model_fields.items())
    return {name.lower(): name for name in names}


def _suggestion(written: str, keys: Mapping[str, str]) -> str:
    close = difflib.get_close_matches(written.lower(), keys, n=1)
    if close:
        return f"did you mean {keys[close[0]]}?"
    return f"keys here: {', '.join(sorted(k for k in keys.values() if not k.startswith('SelectorObj')))}"

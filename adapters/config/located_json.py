"""JSON that remembers where each value stands.

The standard library's decoder does the reading; its hooks are used to note the offset of every value.
"""

import json
from dataclasses import dataclass
from json.decoder import JSONArray, JSONObject  # type: ignore[attr-defined]  # public names, not in typeshed
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any, Final

_NOT_JSON: Final = ("NaN", "Infinity", "-Infinity")


@dataclass(frozen=True, slots=True)
class Located:
    """A value and the offset in the text at which it begins."""

    value: Any
    """As json has it, with Located inside of lists and Members for objects."""
    offset: int
    key_offset: int = 0
    """Where the key begins, if the value is a member of an object."""


class Members(list[tuple[str, Located]]):
    """The members of an object in their order; a key may occur twice."""


def parse(text: str) -> Located:
    """Read a JSON text.

    Raises:
        json.JSONDecodeError: with the offset of what is wrong.
    """
    document: Located = _LocatingDecoder().decode(text)
    return document


class _LocatingDecoder(json.JSONDecoder):
    def __init__(self) -> None:
        super().__init__(object_pairs_hook=Members)
        # Read by the pure Python scanner; the C scanner would not look at them.
        self.parse_object = lambda state, strict, _, *rest: JSONObject(state, strict, self._scan, *rest)
        # Python 3.15 passes an array_hook as well.
        self.parse_array = lambda state, _, *rest: JSONArray(state, self._scan, *rest)
        self._scan_plain = py_make_scanner(self)
        self.scan_once = self._scan

    def _scan(self, text: str, offset: int) -> tuple[Located, int]:
        if text.startswith(_NOT_JSON, offset):
            raise json.JSONDecodeError("NaN and Infinity are no JSON values", text, offset)
        try:
            value, end = self._scan_plain(text, offset)
        except json.JSONDecodeError:
            raise
        except ValueError as error:  # the interpreter's limit of digits, some thousands (sys.set_int_max_str_digits)
            raise json.JSONDecodeError("a number of too many digits", text, offset) from error
        if isinstance(value, Members):
            value = Members((key, _with_key(text, member)) for key, member in value)
        return Located(value, offset), end


def _with_key(text: str, member: Located) -> Located:
    end = text.rindex('"', 0, text.rindex(":", 0, member.offset))
    start = text.rindex('"', 0, end)
    while text[start - 1] == "\\":
        start = text.rindex('"', 0, start)
    return Located(member.value, member.offset, start)

"""The configuration file as the operator mounts it."""

import json
import os
import pathlib
import stat
from dataclasses import replace
from typing import Final

from pydantic import ValidationError

from adapters.config.document import Document, Path, line_and_column
from adapters.config.located_json import parse
from adapters.config.pools import PoolBuilder
from adapters.config.schema import FileEntry
from application.ports.pool_configuration import Configuration, ConfigurationInvalid, ConfigurationMissing, Problem

_EXPECTED: Final = {
    "string_type": "expected a text in quotes",
    "bool_type": "expected true or false",
    "list_type": "expected a list",
    "dict_type": "expected an object",
    "model_type": "expected an object",
    "int_type": "expected a whole number",
    "float_type": "expected a number of seconds",
    "greater_than": "expected more than 0",
    "greater_than_equal": "expected 0 or more",
    "none_required": "expected null or nothing at all",
}
_AROUND: Final = 100
"""Characters of an offending line that are shown on each side of the place."""


class ConfigFile:
    """Pools from a JSON file (port PoolConfiguration).

    `strict` takes a warning for a problem; with `pipes` whoever reads it waits for what a pipe brings.
    """

    def __init__(self, path: pathlib.Path, default_prefix: str, *, strict: bool = False, pipes: bool = False) -> None:
        self._path = path
        self._prefix = default_prefix
        self._strict = strict
        self._pipes = pipes

    def load(self) -> Configuration:
        try:
            text = _content(self._path, pipes=self._pipes).decode()
        except FileNotFoundError as error:
            problem = Problem("", 0, 0, f"cannot be read: {error.strerror}")
            raise ConfigurationMissing(str(self._path), [problem]) from error
        except OSError as error:
            raise self._invalid([Problem("", 0, 0, f"cannot be read: {error.strerror or error}")]) from error
        except UnicodeDecodeError as error:
            raise self._invalid([Problem("", 0, 0, f"is not UTF-8: {error.reason} at byte {error.start}")]) from error
        try:
            configuration, problems = self._read(text)
        except Exception as fault:  # goes on to whoever asked, who else would not know which file it was
            fault.add_note(f"a fault of the plugin, met by the configuration {self._path}")
            raise
        problems.sort(key=lambda problem: (problem.line, problem.column))
        if configuration is None or any(problem.fatal or self._strict for problem in problems):
            raise self._invalid(problems)
        return replace(configuration, warnings=tuple(problems))

    def _read(self, text: str) -> tuple[Configuration | None, list[Problem]]:
        try:
            document = Document.of(text, parse(text))
            mistyped = _mistyped(document)
            builder = PoolBuilder(document, self._prefix, mistyped)
            file = FileEntry.model_validate(document.data)
            configuration = Configuration(builder.build(file), check_interval=file.health_check_interval)
        except json.JSONDecodeError as error:
            return None, [_syntax(text, error)]
        except RecursionError:
            return None, [Problem("", 0, 0, "is nested too deeply")]
        return configuration, [*document.warnings, *mistyped.values(), *builder.problems]

    def _invalid(self, problems: list[Problem]) -> ConfigurationInvalid:
        return ConfigurationInvalid(str(self._path), problems)


def _content(path: pathlib.Path, *, pipes: bool) -> bytes:
    """What is in a file, through links. Anything else might never end, or never begin.

    Raises:
        OSError: if it cannot be read, or is no regular file.
    """
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        kind = os.fstat(number).st_mode
        if pipes and stat.S_ISFIFO(kind):
            os.set_blocking(number, True)
        elif not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):  # of a directory the kernel says what it is
            raise OSError("this is no regular file")
        with open(number, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(number)


def _mistyped(document: Document) -> dict[Path, Problem]:
    """Values of the wrong type, taken out of the document so that the rest can be looked at as well."""
    problems: dict[Path, Problem] = {}
    if not isinstance(document.data, dict):
        problems[()] = document.problem((), f"expected an object, not {json.dumps(document.data)}")
        document.data = {}
    try:
        FileEntry.model_validate(document.data)
    except ValidationError as error:
        for detail in error.errors():
            expected = _EXPECTED.get(detail["type"], detail["msg"])
            path = detail["loc"]
            problems[path] = document.problem(path, f"{expected}, not {json.dumps(detail['input'])}")
        for path in problems:
            document.prune(path)
    return problems


def _syntax(text: str, error: json.JSONDecodeError) -> Problem:
    comma = _trailing_comma(text, error.pos)
    if comma is not None:
        line, column = line_and_column(text, comma)
        closing = text[comma + 1 :].lstrip()[0]
        return Problem("", line, column, f"no JSON: a comma before {closing}", "remove it")
    line, column = line_and_column(text, error.pos)
    if not text.strip():
        return Problem("", line, column, "the file is empty")
    excerpt = _excerpt(text, line, column)
    message = f"no JSON: {error.msg}: {repr(excerpt) if excerpt else 'the file ends here'}"
    return Problem("", line, column, message, _syntax_hint(text, error.pos))


def _excerpt(text: str, line: int, column: int) -> str:
    """The line, or what is around the column if it is very long."""
    start = max(0, column - 1 - _AROUND)
    return text.split("\n")[line - 1][start : column + _AROUND].strip()


def _trailing_comma(text: str, offset: int) -> int | None:
    """Where a comma stands before a closing bracket; Python points at the bracket, from 3.13 on at the comma."""
    before = text[:offset].rstrip()
    comma = offset if text[offset : offset + 1] == "," else len(before) - 1
    follows = text[comma + 1 :].lstrip()[:1]
    return comma if text[comma : comma + 1] == "," and follows in ("}", "]") and follows else None


def _syntax_hint(text: str, offset: int) -> str | None:
    before, here = text[:offset].rstrip(), text[offset : offset + 2]
    if text.startswith("\ufeff"):
        return "remove the byte order mark at the start of the file"
    if here.startswith(("//", "/*", "#")):
        return "JSON has no comments"
    if here.startswith("'"):
        return "texts stand in double quotes"
    if before and not text[:offset].strip().startswith("{"):
        return "the file must begin with {"
    return None

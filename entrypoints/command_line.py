"""Flags from the settings' own fields, as the Go plugin's image takes them: --name=value."""

import argparse
import difflib
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NoReturn

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from entrypoints.settings import Settings

EXIT_USAGE = 2


class Parser(argparse.ArgumentParser):
    """Refuses unknown flags with the one that was probably meant."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.ArgumentDefaultsHelpFormatter, **options)

    def parse(self, arguments: Sequence[str] | None = None) -> argparse.Namespace:
        """The flags given. Exits with 2 if there is one that does not exist."""
        given = sys.argv[1:] if arguments is None else arguments
        found, unknown = self.parse_known_args([plain for argument in given for plain in _plain_switch(argument)])
        if unknown:
            self.error(f"unknown: {unknown[0]}{self._suggestion(unknown[0])}")
        return found

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}\nTry {self.prog} --help", file=sys.stderr)
        sys.exit(EXIT_USAGE)

    def _suggestion(self, unknown: str) -> str:
        known = [flag for flag in _flags(self) if flag.startswith("--")]
        close = difflib.get_close_matches(unknown.partition("=")[0], known, n=1)
        if close and unknown.partition("=")[0] == close[0]:
            return ": it belongs behind the command"
        return f" (did you mean {close[0]}?)" if close else ""


def _plain_switch(argument: str) -> tuple[str, ...]:
    """A switch with a value, which the Go plugin takes, as one without: --use-cdi=false is --no-use-cdi.

    With an empty value it is left out.
    """
    flag, given, value = argument.partition("=")
    field = Settings.model_fields.get(flag.removeprefix("--").replace("-", "_"))
    if not given or field is None or field.annotation is not bool:
        return (argument,)
    switches = {"true": (flag,), "false": (f"--no-{flag.removeprefix('--')}",), "": ()}
    return switches.get(value.lower(), (argument,))


def _flags(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no public list of its flags
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for inner in action.choices.values():
                yield from _flags(inner)


def add_settings(parser: argparse.ArgumentParser, names: Collection[str]) -> None:
    """A flag for each of these settings."""
    for name in names:
        field = Settings.model_fields[name]
        flag = f"--{name.replace('_', '-')}"
        if field.annotation is bool:
            switch = argparse.BooleanOptionalAction
            parser.add_argument(flag, action=switch, default=argparse.SUPPRESS, help=_help(name, field))
        else:
            parser.add_argument(flag, default=argparse.SUPPRESS, metavar=_metavar(field), help=_help(name, field))


def settings(parser: Parser, given: argparse.Namespace) -> Settings:
    """The settings: flags over environment over defaults. Exits with 2 and every problem if one does not fit.

    A flag with an empty value is as good as none, as the script of the Go plugin's image has it.
    """
    flags = {name: value for name, value in vars(given).items() if name in Settings.model_fields and value != ""}
    try:
        return Settings(**flags)
    except ValidationError as error:
        parser.error("; ".join(_problem(flags, detail) for detail in error.errors()))


def _problem(flags: dict[str, Any], detail: Any) -> str:
    name = str(detail["loc"][0])
    shown = f"--{name.replace('_', '-')}" if name in flags else f"SRIOVDP_{name.upper()}"
    return f"{shown}={detail['input']}: {detail['msg'].removeprefix('Value error, ')}"


def _help(name: str, field: FieldInfo) -> str:
    default = "" if field.default in (None, False) else f" (default: {field.default})"
    return f"{field.description}{default} [SRIOVDP_{name.upper()}]"


def _metavar(field: FieldInfo) -> str:
    choices = getattr(field.annotation, "__args__", ())
    if choices and all(isinstance(choice, str) for choice in choices):
        return "|".join(choices)
    if str in choices:
        return "TEXT"
    return {"int": "N", "str": "TEXT"}.get(getattr(field.annotation, "__name__", ""), "PATH")

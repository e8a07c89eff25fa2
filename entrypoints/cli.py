"""The command `sriovdp`: the daemon's own rules, asked by a person."""

import signal
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from application.ports.pool_configuration import ConfigurationInvalid
from domain.errors import InvalidPciAddress, SriovError
from domain.pci import PciAddress
from domain.pool import PoolSpec
from entrypoints import report
from entrypoints.aside import Aside
from entrypoints.command_line import EXIT_USAGE, Parser, add_settings, settings
from entrypoints.container import Container, build
from entrypoints.output import abandon, say
from entrypoints.pool_choice import choose_pool

_READING: Final = ("resource_prefix", "root", "strict")


class NoSuchDevice(SriovError):
    """An id that the host does not have, or that tells too little."""

    def __init__(self, device_id: str, why: str) -> None:
        super().__init__(f"{device_id}: {why}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit code: 0 answered, 1 not as asked for, 2 wrong usage or configuration.

    Those of a shell are 130 after Ctrl-C, and 141 if nobody reads the answer to its end.
    """
    try:
        code, answer = _answer(arguments)
        return say(answer) or code
    except SystemExit:
        if code := say(""):  # a help that nobody reads
            return code
        raise
    except KeyboardInterrupt:
        abandon()
        return 128 + signal.SIGINT


def _answer(arguments: Sequence[str] | None) -> tuple[int, str]:
    """The exit code, and what belongs on standard output."""
    parser = _parser()
    given = parser.parse(arguments)
    if given.command is None:
        return EXIT_USAGE, parser.format_help()
    container = build(settings(parser, given), Aside())
    command: Callable[[Container, Namespace], str] = given.command
    try:
        return 0, command(container, given)
    except ConfigurationInvalid as invalid:
        told = report.problems(invalid, as_json=given.json) + "\n"
        if given.json:
            return EXIT_USAGE, told
        print(told, end="", file=sys.stderr)
        return EXIT_USAGE, ""
    except SriovError as error:
        print(f"sriovdp: {error}", file=sys.stderr)
        return 1, ""


def _parser() -> Parser:
    parser = Parser(prog="sriovdp", description="Ask about pools of SR-IOV devices, on this node or on a tree of one.")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    validate = _add(commands, "validate", _validate, "report every problem of a configuration file")
    validate.add_argument("config_file", metavar="CONFIG", type=_path)
    explain = _add(commands, "explain", _explain, "pools, devices, and why a device is not in a pool")
    add_settings(explain, ("config_file",))
    explain.add_argument("--device", metavar="ID", help="only this device")
    explain.add_argument("--pool", metavar="NAME", help="only what concerns this pool")
    nad = _add(commands, "nad", _nad, "write a NetworkAttachmentDefinition for a pool")
    add_settings(nad, ("config_file",))
    nad.add_argument("pool", metavar="POOL", help="its name, with or without the prefix")
    nad.add_argument("--namespace", default="default", help="of the definition")
    return parser


def _add(commands: Any, name: str, command: Callable[[Container, Namespace], str], about: str) -> Parser:
    parser: Parser = commands.add_parser(name, help=about, description=about)
    parser.set_defaults(command=command)
    parser.add_argument("--json", action="store_true", help="answer as JSON")
    add_settings(parser, _READING)
    return parser


def _path(text: str) -> str:
    """An empty one is no path: a variable of a script that is not set asks about no file, and not about the default."""
    if not text:
        raise ArgumentTypeError("the path is empty")
    return text


def _validate(container: Container, given: Namespace) -> str:
    configuration = container.configuration(pipes=True).load()
    return report.configuration(given.config_file, configuration, as_json=given.json) + "\n"


def _explain(container: Container, given: Namespace) -> str:
    pools = _pools(container)
    shown = [choose_pool(pools, given.pool)] if given.pool else pools
    explanation = container.explain()()
    if given.device:
        with suppress(InvalidPciAddress):  # the name of a subfunction
            given.device = str(PciAddress.parse(given.device))
    if given.device and not any(trail.device.id == given.device for trail in explanation.trails):
        raise NoSuchDevice(given.device, explanation.unreadable.get(given.device, "the host has no such device"))
    return report.explanation(explanation, shown, given.device, as_json=given.json) + "\n"


def _nad(container: Container, given: Namespace) -> str:
    pool = choose_pool(_pools(container), given.pool)
    from adapters.nad.definition import network_attachment_definition

    return network_attachment_definition(pool, given.namespace, as_json=given.json)


def _pools(container: Container) -> Sequence[PoolSpec]:
    """The pools of the configuration file, also for everything that asks the table for them."""
    pools: Sequence[PoolSpec] = container.configuration().load().pools
    container.table().wanted = pools
    return pools


if __name__ == "__main__":
    sys.exit(main())

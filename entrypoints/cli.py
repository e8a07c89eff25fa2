"""The command `sriovdp`: the daemon's own rules, asked by a person."""

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

_READING: Final = ("resource_prefix", "root", "strict")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit code: 0 answered, 1 not as asked for, 2 wrong usage or configuration."""
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
    given = parser.parse(arguments)
    if given.command is None:
        parser.print_help()
        return EXIT_USAGE
    chosen = settings(parser, given)
    container = build(chosen, Aside())
    try:
        command: Callable[..., int] = given.command
        return command(container, given)
    except ConfigurationInvalid as invalid:
        print(report.problems(invalid, as_json=given.json), file=sys.stdout if given.json else sys.stderr)
        return EXIT_USAGE
    except SriovError as error:
        print(f"sriovdp: {error}", file=sys.stderr)
        return 1


def _add(commands: Any, name: str, command: Callable[[Container, Namespace], int], about: str) -> Parser:
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


def _validate(container: Container, given: Namespace) -> int:
    configuration = container.configuration().load()
    print(report.configuration(given.config_file, configuration, as_json=given.json))
    return 0


def _explain(container: Container, given: Namespace) -> int:
    pools = _pools(container)
    explanation = container.explain()()
    if given.pool and _pool(pools, given.pool) is None:
        return 1
    if given.device:
        with suppress(InvalidPciAddress):  # the name of a subfunction
            given.device = str(PciAddress.parse(given.device))
    if given.device and not any(trail.device.id == given.device for trail in explanation.trails):
        why = explanation.unreadable.get(given.device, "the host has no such device")
        print(f"sriovdp: {given.device}: {why}", file=sys.stderr)
        return 1
    print(report.explanation(explanation, pools, given.pool, given.device, as_json=given.json))
    return 0


def _nad(container: Container, given: Namespace) -> int:
    pool = _pool(_pools(container), given.pool)
    if pool is None:
        return 1
    from adapters.nad.definition import network_attachment_definition

    print(network_attachment_definition(pool, given.namespace, as_json=given.json), end="")
    return 0


def _pools(container: Container) -> Sequence[PoolSpec]:
    """The pools of the configuration file, also for everything that asks the table for them."""
    pools: Sequence[PoolSpec] = container.configuration().load().pools
    container.table().wanted = pools
    return pools


def _pool(pools: Sequence[PoolSpec], name: str) -> PoolSpec | None:
    """The pool of a name with or without prefix; None, and said, if there is none."""
    pool = next((p for p in pools if name in (str(p.name), p.name.name)), None)
    if pool is None:
        print(f"sriovdp: no pool {name}: there are {', '.join(str(p.name) for p in pools)}", file=sys.stderr)
    return pool


if __name__ == "__main__":
    sys.exit(main())

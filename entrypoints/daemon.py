"""The daemon: entry point of the container image."""

import gc
import signal
import sys

if __name__ == "__main__":
    gc.disable()  # a start makes many objects and little garbage: a quarter of its time is saved
    for _number in (signal.SIGTERM, signal.SIGINT):
        # The first process of a container gets no signal that it has no handler for: until it serves, it just ends.
        signal.signal(_number, lambda *_: sys.exit(0))

import asyncio
import os
from collections.abc import Sequence

os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

from application.ports.journal import Journal
from application.ports.pool_configuration import ConfigurationInvalid
from domain.errors import SriovError
from entrypoints.command_line import EXIT_USAGE, Parser, add_settings, settings
from entrypoints.container import Container, build
from entrypoints.journal import open_journal
from entrypoints.settings import Settings

EXIT_FAILURE = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT. Returns the exit code."""
    parser = Parser(prog="sriovdp-daemon", description="Kubernetes device plugin for SR-IOV network devices")
    add_settings(parser, Settings.model_fields)
    chosen = settings(parser, parser.parse(arguments))
    journal = open_journal(chosen.log_level, chosen.log_dir)
    container = build(chosen, journal)
    try:
        configuration = container.configuration().load()
    except ConfigurationInvalid as invalid:
        print(invalid, file=sys.stderr)
        return EXIT_USAGE
    for warning in configuration.warnings:
        journal.warning("configuration", file=str(chosen.config_file), problem=str(warning))
    try:
        asyncio.run(_serve(container))
    except SriovError as error:
        journal.error("cannot serve", reason=str(error))
        return EXIT_FAILURE
    return 0


async def _serve(container: Container) -> None:
    journal: Journal = container.journal()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    publisher = container.publisher()
    try:
        await container.discovery().reconcile()
        gc.freeze()
        gc.enable()
        await stop.wait()
        journal.info("stopping")
    finally:
        await publisher.stop()


if __name__ == "__main__":
    sys.exit(main())

"""The daemon: entry point of the container image."""

import gc
import signal
import sys

if __name__ == "__main__":
    gc.disable()  # a start makes many objects and little garbage: a quarter of its time is saved
    for _number in (signal.SIGTERM, signal.SIGINT):
        # The first process of a container gets no signal that it has no handler for: until it serves, it just ends.
        signal.signal(_number, lambda *_: sys.exit(0))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

import asyncio
import os
import threading
from collections.abc import Sequence

os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

from application.ports.change_feed import Change
from application.ports.journal import Journal
from application.ports.pool_configuration import Configuration, ConfigurationInvalid, ConfigurationMissing
from entrypoints.command_line import EXIT_USAGE, Parser, add_settings, settings
from entrypoints.container import Container, build
from entrypoints.journal import open_journal
from entrypoints.settings import Settings

_PATIENCE = 1.0
"""Seconds after a signal in which the process ends by itself."""
_STARTED_AFTER = 5.0
"""Seconds after which a start is over and its objects are here to stay."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT. Returns the exit code."""
    parser = Parser(prog="sriovdp-daemon", description="Kubernetes device plugin for SR-IOV network devices")
    add_settings(parser, Settings.model_fields)
    chosen = settings(parser, parser.parse(arguments))
    journal = open_journal(chosen.log_level, chosen.log_dir)
    container = build(chosen, journal)
    started: Configuration | ConfigurationInvalid
    try:
        started = container.configuration().load()
        for warning in started.warnings:
            journal.warning("configuration", problem=str(warning))
    except ConfigurationInvalid as invalid:
        if chosen.strict or not isinstance(invalid, ConfigurationMissing):
            print(invalid, file=sys.stderr)
            return EXIT_USAGE
        journal.warning("no configuration yet", reason=str(invalid))
        started = invalid
    asyncio.run(_serve(container, started))
    return 0


async def _serve(container: Container, started: Configuration | ConfigurationInvalid) -> None:
    journal: Journal = container.journal()
    publisher = container.publisher()
    following = container.following()
    probes = container.probes()
    loop = asyncio.get_running_loop()
    work = loop.create_task(following.run(started), name="follow host and configuration")
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, work.cancel)
    loop.add_signal_handler(signal.SIGHUP, following.wake, Change.CONFIGURATION)
    loop.call_later(_STARTED_AFTER, _collect_garbage_from_now_on)
    if probes:
        probes.start()
    try:
        await work
    except asyncio.CancelledError:
        journal.info("stopping")
        # A read of the host that hangs in the kernel cannot be interrupted, and the interpreter waits for its thread.
        end = threading.Timer(_PATIENCE, os._exit, (0,))
        end.daemon = True
        end.start()
    finally:
        await publisher.stop()
        if probes:
            await probes.stop()


def _collect_garbage_from_now_on() -> None:
    gc.freeze()
    gc.enable()


if __name__ == "__main__":
    sys.exit(main())

"""The log: one JSON object a line on standard output, or plain lines on a terminal."""

import logging
import logging.handlers
import sys
from pathlib import Path
from typing import Final

import structlog

from application.ports.journal import Journal

_DETAILS_FROM: Final = 5
"""Level of the Go plugin's glog from which on details are told."""
_FILE_BYTES: Final = 10 << 20
_FILES: Final = 3


def open_journal(level: int, directory: Path | None) -> Journal:
    """A journal that tells what the level (0 to 10, as the Go plugin's) asks for."""
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stdout)]
    failure: OSError | None = None
    if directory is not None:
        try:
            handlers.append(_file(directory))
        except OSError as error:
            failure = error
    root = logging.getLogger("sriovdp")
    root.setLevel(_threshold(level))
    root.propagate = False
    root.handlers.clear()
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(message)s"))
        root.addHandler(handler)
    journal: Journal = structlog.wrap_logger(
        root,
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _renderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_threshold(level)),
        cache_logger_on_first_use=True,
    )
    if failure is not None:
        journal.warning("no log files", directory=str(directory), reason=failure.strerror)
    return journal


def _threshold(level: int) -> int:
    if level == 0:
        return logging.WARNING
    return logging.DEBUG if level >= _DETAILS_FROM else logging.INFO


def _file(directory: Path) -> logging.Handler:
    directory.mkdir(parents=True, exist_ok=True)
    return logging.handlers.RotatingFileHandler(
        directory / "sriovdp.log", maxBytes=_FILE_BYTES, backupCount=_FILES - 1, encoding="utf-8"
    )


def _renderer() -> structlog.typing.Processor:
    if sys.stdout.isatty():
        return structlog.dev.ConsoleRenderer()
    return structlog.processors.JSONRenderer()

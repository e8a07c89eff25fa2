"""The log: one JSON object a line on standard output, or plain lines on a terminal."""

import logging
import logging.handlers
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, TextIO

import structlog

from application.ports.journal import Journal
from entrypoints.output import abandon

_DETAILS_FROM: Final = 5
"""Level of the Go plugin's glog from which on details are told."""
_FILE_BYTES: Final = 10 << 20
_FILES: Final = 3


def open_journal(level: int, directory: Path | None) -> Journal:
    """A journal that tells what the level (0 to 10, as the Go plugin's) asks for."""

    def no_files(error: OSError) -> None:
        journal.warning("no log files", directory=str(directory), reason=error.strerror)

    handlers: list[logging.Handler] = [_Lines(sys.stdout)]
    failure: OSError | None = None
    if directory is not None:
        try:
            handlers.append(_file(directory, no_files))
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
        no_files(failure)
    return journal


class _Lines(logging.StreamHandler[TextIO]):
    """The log on standard output. Of lines that do not get there nobody can be told."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging calls it
        error = sys.exc_info()[1]
        if isinstance(error, BrokenPipeError):
            abandon()
        elif not isinstance(error, OSError):
            super().handleError(record)


class _Files(logging.handlers.RotatingFileHandler):
    """The log in files. That a line cannot be written, as on a full disk, is said once."""

    def __init__(self, path: Path, failed: Callable[[OSError], None]) -> None:
        super().__init__(path, maxBytes=_FILE_BYTES, backupCount=_FILES - 1, encoding="utf-8")
        self._failed = failed
        self._said = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging calls it
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._said:
            self._said = True
            self._failed(error)


def _threshold(level: int) -> int:
    if level == 0:
        return logging.WARNING
    return logging.DEBUG if level >= _DETAILS_FROM else logging.INFO


def _file(directory: Path, failed: Callable[[OSError], None]) -> logging.Handler:
    directory.mkdir(parents=True, exist_ok=True)
    return _Files(directory / "sriovdp.log", failed)


def _renderer() -> structlog.typing.Processor:
    if sys.stdout and sys.stdout.isatty():
        return structlog.dev.ConsoleRenderer()
    return structlog.processors.JSONRenderer()

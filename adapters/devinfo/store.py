"""One JSON file a device (port DeviceInfoStore)."""

import json
import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from adapters.files.atomic import read_file, remove_abandoned, replace_file
from adapters.files.directory import prepare
from domain.device_info import DeviceInfo
from domain.errors import FilesUnwritable

_FEW: Final = 100
"""Up to as many files are looked for one by one: the directory may hold thousands."""
_SUFFIX: Final = "-device.json"


Identity = tuple[int, int, int]


class FileDeviceInfoStore:
    """Files that are replaced only when they differ."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._prepared = False
        self._known: dict[str, tuple[bytes, Identity]] = {}
        """What files had in them when they were read: as long as it is the same file it has it still."""

    def write(self, records: Sequence[DeviceInfo]) -> int:
        try:
            there = frozenset(self.names()) if len(records) > _FEW else {record.file_name for record in records}
            return sum(self._write(record, record.file_name in there) for record in records)
        except OSError as error:
            remedy = f"free space and a writable directory are needed in {self._directory}"
            raise FilesUnwritable(error.filename or self._directory, str(error.strerror), remedy) from error

    def names(self) -> Collection[str]:
        try:
            names = os.listdir(self._directory)  # noqa: PTH208 - names only
            return [name for name in names if name.endswith(_SUFFIX) and not name.startswith(".")]
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise FilesUnwritable(self._directory, str(error.strerror), "the directory must be readable") from error

    def ours(self, names: Collection[str]) -> Collection[str]:
        return [name for name in names if _is_ours(f"{self._directory}/{name}")]

    def remove(self, names: Collection[str]) -> None:
        try:
            for name in names:
                self._known.pop(f"{self._directory}/{name}", None)
                (self._directory / name).unlink(missing_ok=True)
        except OSError as error:
            remedy = "the directory must be writable"
            raise FilesUnwritable(error.filename or self._directory, str(error.strerror), remedy) from error

    def _write(self, record: DeviceInfo, may_be_there: bool) -> bool:
        path = f"{self._directory}/{record.file_name}"
        content = _text(record.content)
        if may_be_there:
            with suppress(OSError):  # missing, or unreadable: replaced below either way
                identity = _identity(path)
                if self._known.get(path) == (content, identity):
                    return False
                if read_file(path) == content:
                    self._known[path] = (content, identity)
                    return False
                if record.partial:
                    return False
        if not self._prepared:
            prepare(self._directory)
            remove_abandoned(str(self._directory))
            self._prepared = True
        try:
            replace_file(path, content)
        except FileNotFoundError:
            # Somebody removed the directory; a reboot of the node's tmpfs looks like this to a process that lives on.
            prepare(self._directory)
            replace_file(path, content)
        return True


def _text(content: object) -> bytes:
    return json.dumps(content).encode() + b"\n"


def _is_ours(path: str) -> bool:
    """Whether a file looks as this store writes them: programs in Go write no spaces and no end of a line."""
    try:
        written = read_file(path)
        return written == _text(json.loads(written))
    except (OSError, ValueError, RecursionError):
        return False


def _identity(path: str) -> Identity:
    """What tells a file from its successor, and from itself before it was written to."""
    found = os.lstat(path)
    return found.st_ino, found.st_ctime_ns, found.st_size

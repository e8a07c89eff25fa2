"""One JSON file a device (port DeviceInfoStore)."""

import json
import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from adapters.devinfo.directory import prepare
from domain.device_info import DeviceInfo
from domain.errors import DeviceInfoUnwritable

_MODE: Final = 0o644
_SUFFIX: Final = "-device.json"


class FileDeviceInfoStore:
    """Files replaced as a whole, and only when they differ: readers see the old or the new content, never a part."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._prepared = False

    def write(self, records: Sequence[DeviceInfo]) -> int:
        try:
            return sum(self._write(record) for record in records)
        except OSError as error:
            remedy = f"free space and a writable directory are needed in {self._directory}"
            raise DeviceInfoUnwritable(error.filename, str(error.strerror), remedy) from error

    def names(self) -> Collection[str]:
        try:
            names = os.listdir(self._directory)  # noqa: PTH208 - names only
            return [name for name in names if name.endswith(_SUFFIX) and not name.startswith(".")]
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise DeviceInfoUnwritable(
                self._directory, str(error.strerror), "the directory must be readable"
            ) from error

    def remove(self, names: Collection[str]) -> None:
        for name in names:
            (self._directory / name).unlink(missing_ok=True)

    def _write(self, record: DeviceInfo) -> bool:
        path = f"{self._directory}/{record.file_name}"
        content = json.dumps(record.content).encode() + b"\n"
        with suppress(OSError):  # missing, or unreadable: replaced below either way
            if _read(path) == content:
                return False
        if not self._prepared:
            prepare(self._directory)
            self._prepared = True
        try:
            self._replace(path, content)
        except FileNotFoundError:
            # Somebody removed the directory; a reboot of the node's tmpfs looks like this to a process that lives on.
            prepare(self._directory)
            self._replace(path, content)
        return True

    def _replace(self, path: str, content: bytes) -> None:
        temporary = f"{self._directory}/.{os.getpid()}-{path.rpartition('/')[2]}"
        _unlink(temporary)  # left by a process that was killed while writing
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, content)
            os.fchmod(file, _MODE)
            os.rename(temporary, path)  # noqa: PTH104 - a Path per file costs more than the call
        except OSError:
            _unlink(temporary)
            raise
        finally:
            os.close(file)


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108 - a Path per file costs more than the call


def _read(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        return os.read(file, 65536)
    finally:
        os.close(file)

"""One file a pool (port CdiStore): written in JSON, which is YAML as well, since the Go plugin's names end in .yaml."""

import json
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from adapters.files.atomic import read_file, remove_abandoned, replace_file
from adapters.files.directory import prepare
from adapters.files.shortage import check_shortage
from application.ports.journal import Journal
from domain.cdi import FILE_PREFIX, VERSION, CdiFile, cdi_vendor
from domain.errors import FilesUnwritable
from domain.exposure import DeviceNode


class FileCdiStore:
    """Files that are replaced only when they differ or somebody else touched them."""

    def __init__(self, directory: Path, journal: Journal) -> None:
        self._directory = directory
        self._journal = journal
        self._prepared = False
        self._written: dict[str, tuple[CdiFile, tuple[int, int]]] = {}

    def read(self, prefixes: Collection[str]) -> Sequence[CdiFile]:
        found: list[CdiFile] = []
        names = self._names() if prefixes else []
        for prefix in sorted(set(prefixes)):
            for name in names:
                if not name.startswith(f"{FILE_PREFIX}{prefix}-"):
                    continue
                path = f"{self._directory}/{name}"
                try:
                    file = _parse(name, read_file(path).decode())
                    if cdi_vendor(prefix) == file.kind.partition("/")[0]:
                        found.append(file)
                except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                    if isinstance(error, OSError):
                        check_shortage(error)
                    self._journal.warning("CDI file not understood", file=path, reason=str(error))
        return found

    def _names(self) -> list[str]:
        try:
            return sorted(n for n in os.listdir(self._directory) if n.endswith(".yaml"))  # noqa: PTH208 - names only
        except FileNotFoundError:
            return []
        except OSError as error:
            check_shortage(error)
            raise FilesUnwritable(self._directory, str(error.strerror), "the directory must be readable") from error

    def write(self, files: Sequence[CdiFile]) -> None:
        try:
            for file in files:
                self._write(file)
        except OSError as error:
            remedy = f"free space and a writable directory are needed in {self._directory}"
            raise FilesUnwritable(error.filename or self._directory, str(error.strerror), remedy) from error

    def _write(self, file: CdiFile) -> None:
        path = self._directory / file.name
        if self._written.get(file.name) == (file, _identity(path)):
            return
        if not file.devices:
            path.unlink(missing_ok=True)
            return
        content = _text(file).encode()
        try:
            current = read_file(str(path))
        except OSError:
            current = b""
        if current != content:
            if not self._prepared or not self._directory.is_dir():
                prepare(self._directory)
                remove_abandoned(str(self._directory))
                self._prepared = True
            replace_file(str(path), content)
        self._written[file.name] = (file, _identity(path))


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_ino, found.st_mtime_ns


def _text(file: CdiFile) -> str:
    devices = [
        {"name": name, "containerEdits": {"deviceNodes": [_node(node) for node in nodes]}}
        for name, nodes in file.devices.items()
    ]
    return json.dumps({"cdiVersion": VERSION, "kind": file.kind, "devices": devices}, indent=1) + "\n"


def _node(node: DeviceNode) -> dict[str, str]:
    return {"path": node.container, "hostPath": node.host, "permissions": node.access}


def _parse(name: str, text: str) -> CdiFile:
    document = _document(text)
    devices = {
        device["name"]: tuple(
            DeviceNode(node.get("hostPath", node["path"]), node["path"], node.get("permissions", "rwm"))
            for node in device["containerEdits"]["deviceNodes"]
        )
        for device in document["devices"]
        if device["containerEdits"].get("deviceNodes")
    }
    return CdiFile(name, document["kind"], devices)


def _document(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        import yaml  # noqa: PLC0415 - only after the Go plugin, which writes YAML

        try:
            return yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(str(error)) from error

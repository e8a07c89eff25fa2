"""A container of an example."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

from entrypoints.settings import Settings
from tests.unit.documentation.node import Node


class Pod:
    """A container with devices of some pools, and the files on its node."""

    def __init__(self, node: Node, devices: dict[str, list[str]]) -> None:
        self._place = node.place
        self._environment: dict[str, str] = {}
        self._nodes: set[str] = set()
        for spec in node.container.table().wanted:
            if ids := devices.get(spec.name.variables[-1]):
                told = node.allocate(spec.name, ids)
                self._environment |= dict(told.envs)
                self._nodes |= {device.container_path for device in told.devices}
                self._nodes |= {path for device in told.cdi_devices for path in self._injected(device.name)}

    def says(self, command: str) -> str:
        """The output of a command in the container or on the node."""
        words = shlex.split(command.removesuffix(" | jq"))
        match words[words.index("--") + 1 :] if words[0] == "kubectl" else words:
            case ["printenv", name]:
                value = self._environment[name]
                return _jq(value) if command.endswith("| jq") else f"{value}\n"
            case ["ls", "-1", *paths]:
                return "".join(f"{name}\n" for name in sorted(name for path in paths for name in self._listed(path)))
            case ["jq", ".", path]:
                return _jq(self._file(path).read_text(encoding="utf-8"))
        raise AssertionError(command)

    def _listed(self, path: str) -> Iterator[str]:
        """What `ls -1` says of a device node, or of a directory of some."""
        below = [node.removeprefix(f"{path}/") for node in self._nodes if node.startswith(f"{path}/")]
        assert below or path in self._nodes, path
        yield from {name.partition("/")[0] for name in below} or {path}

    def _file(self, path: str) -> Path:
        directory, _, name = path.rpartition("/")
        fields = Settings.model_fields
        places = {str(fields["devinfo_dir"].default): "dp", str(fields["cdi_dir"].default): "cdi"}
        return self._place / places[directory] / name

    def _injected(self, qualified: str) -> Iterator[str]:
        kind, _, name = qualified.partition("=")
        for file in (self._place / "cdi").iterdir():
            described = json.loads(file.read_text(encoding="utf-8"))
            for device in described["devices"]:
                if (described["kind"], device["name"]) == (kind, name):
                    yield from (node["path"] for node in device["containerEdits"]["deviceNodes"])


def _jq(value: str) -> str:
    return json.dumps(json.loads(value), indent=2) + "\n"

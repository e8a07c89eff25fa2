"""A DaemonSet of deploy/ as its container sees it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import yaml

REPOSITORY = Path(__file__).resolve().parents[3]
DEPLOY = REPOSITORY / "deploy"
OWN = DEPLOY / "daemonset.yaml"
OPERATOR = DEPLOY / "operator" / "daemonset.yaml"

_VARIABLE = re.compile(r"\$\((\w+)\)")


def document(path: Path) -> dict[str, Any]:
    """The one document of a file."""
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


@dataclass(frozen=True)
class Mount:
    """A directory that a volume brings into the container."""

    path: PurePath
    read_only: bool
    host_path: Mapping[str, str] | None
    config_map: str | None

    def holds(self, path: PurePath) -> bool:
        return path.is_relative_to(self.path)


class Workload:
    """One DaemonSet with its one container."""

    def __init__(self, path: Path) -> None:
        self.document = document(path)
        self.spec: dict[str, Any] = self.document["spec"]
        self.pod: dict[str, Any] = self.spec["template"]["spec"]
        (self.container,) = self.pod["containers"]

    @property
    def privileged(self) -> bool:
        return bool(self.container["securityContext"].get("privileged"))

    @property
    def variables(self) -> dict[str, str]:
        """What the container's environment holds; a name stands for what the cluster would fill in."""
        return {entry["name"]: entry.get("value", "filled-in") for entry in self.container.get("env", ())}

    @property
    def variables_used(self) -> set[str]:
        return {name for argument in self.container["args"] for name in _VARIABLE.findall(argument)}

    @property
    def arguments(self) -> list[str]:
        """As the kubelet hands them over: $(NAME) becomes the variable's value and stays as it is without one."""
        known = self.variables
        return [_VARIABLE.sub(lambda m: known.get(m[1], m[0]), argument) for argument in self.container["args"]]

    @property
    def mounts(self) -> tuple[Mount, ...]:
        return tuple(self._mounts())

    def mount_of(self, path: PurePath) -> Mount | None:
        """The innermost mount that a path is in."""
        holding = [mount for mount in self.mounts if mount.holds(path)]
        return max(holding, key=lambda mount: len(mount.path.parts), default=None)

    def _mounts(self) -> Iterator[Mount]:
        volumes = {volume["name"]: volume for volume in self.pod["volumes"]}
        for mount in self.container["volumeMounts"]:
            volume = volumes[mount["name"]]
            yield Mount(
                PurePath(mount["mountPath"]),
                mount.get("readOnly", False),
                volume.get("hostPath"),
                volume["configMap"]["name"] if "configMap" in volume else None,
            )

"""A node for one case: the host's tree, the kubelet's directories and the daemon's files."""

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.golden.case import Case

REPOSITORY: Final = Path(__file__).parents[2]

#: Where a case has the device-info files of earlier runs.
_DEVICE_INFO: Final = "var/run/k8s.cni.cncf.io/devinfo/dp"


@dataclass(frozen=True, slots=True)
class Node:
    """The directories of one node below *base*, which has a short name."""

    base: Path
    case: Case

    @property
    def root(self) -> Path:
        return self.base / "host"

    @property
    def plugins_registry(self) -> Path:
        return self.base / "k/plugins_registry"

    @property
    def device_plugins(self) -> Path:
        return self.base / "k/device-plugins"

    @property
    def log(self) -> Path:
        return self.base / "log"

    def lay(self) -> None:
        """Lay the host out, and what else the node has before the daemon starts."""
        self.case.host.lay(self.root)
        self.device_plugins.mkdir(parents=True)
        (self.base / "k/pod-resources").mkdir()
        if self.case.mode == "registry":
            self.plugins_registry.mkdir()
        if (earlier := self.root / _DEVICE_INFO).is_dir():
            shutil.move(earlier, self._device_info)
        self._device_info.mkdir(exist_ok=True)
        self._cdi.mkdir()
        if self.case.config is not None:
            self._config.write_text(self.case.config)

    def command(self) -> list[str]:
        command = [
            sys.executable,
            str(REPOSITORY / "entrypoints/daemon.py"),
            f"--config-file={self._config}",
            f"--resource-prefix={self.case.prefix}",
            f"--root={self.root}",
            f"--kubelet-dir={self.base / 'k'}",
            "--kubelet-host-dir=/var/lib/kubelet",
            f"--devinfo-dir={self._device_info}",
            f"--cdi-dir={self._cdi}",
            "--registration=auto",
            "--log-level=10",
        ]
        if self.case.config is None:
            command.append("--strict")  # else it is waited for
        return [*command, "--use-cdi"] if self.case.use_cdi else command

    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONWARNINGS": "error"}

    def device_info(self) -> dict[str, Any]:
        return {path.name: json.loads(path.read_text()) for path in self._device_info.iterdir()}

    def cdi(self) -> dict[str, Any]:
        """CDI files by name; JSON is YAML too."""
        return {path.name: yaml.safe_load(path.read_text()) for path in self._cdi.iterdir()}

    @property
    def _config(self) -> Path:
        return self.base / "config.json"

    @property
    def _device_info(self) -> Path:
        return self.base / "devinfo"

    @property
    def _cdi(self) -> Path:
        return self.base / "cdi"

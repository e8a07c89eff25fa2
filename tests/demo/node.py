"""The simulated node of the demo: host tree, configuration, and the real daemon and command on them."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
#: Names of the pools and the driver of the VFs in each.
POOLS: Final = {"intel.com/sriov_netdevice": "iavf", "intel.com/sriov_dpdk": "vfio-pci"}
_STOP_WITHIN: Final = 10.0


class DaemonEnded(Exception):
    """The daemon is gone and was not asked to."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the daemon ended with exit code {code}")


@dataclass(frozen=True, slots=True)
class Node:
    """Everything below one directory."""

    directory: Path

    @property
    def host(self) -> Path:
        return self.directory / "host"

    @property
    def kubelet(self) -> Path:
        return self.directory / "k"

    @property
    def devinfo(self) -> Path:
        return self.directory / "devinfo"

    @property
    def config(self) -> Path:
        return self.directory / "config.json"

    @property
    def log(self) -> Path:
        return self.directory / "daemon.log"

    def configure(self) -> None:
        pools = [
            {"resourceName": name.partition("/")[2], "selectors": {"vendors": ["8086"], "drivers": [driver]}}
            for name, driver in POOLS.items()
        ]
        self.config.write_text(json.dumps({"resourceList": pools}, indent=2) + "\n")

    @asynccontextmanager
    async def daemon(self) -> AsyncIterator[asyncio.subprocess.Process]:
        """Run the daemon meanwhile."""
        with self.log.open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *self._command("daemon.py"),
                f"--kubelet-dir={self.kubelet}",
                f"--devinfo-dir={self.devinfo}",
                stdout=log,
                stderr=log,
                env=_environment(),
                start_new_session=True,  # Ctrl-C is for the demo, which then ends the daemon
            )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.terminate()
            try:
                await asyncio.wait_for(process.wait(), _STOP_WITHIN)
            except TimeoutError:
                process.kill()
                await process.wait()

    def explain(self, device: str) -> str:
        """What `sriovdp explain` says of a device."""
        command = [*self._command("cli.py", "explain"), f"--device={device}"]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=_environment())
        return done.stdout.strip().splitlines()[-1]

    def _command(self, module: str, *words: str) -> list[str]:
        program = str(ROOT / "entrypoints" / module)
        return [sys.executable, program, *words, f"--config-file={self.config}", f"--root={self.host}"]


def _environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path}

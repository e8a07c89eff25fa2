"""The product as the guest runs it: a process started by its entry point."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).resolve().parents[3]

Pools = Mapping[str, Mapping[str, object]]
"""The selectors of each pool."""


@dataclass
class Daemon:
    """One run of the daemon; its output goes to *log*."""

    directory: Path
    """Where the config file and the log are put."""
    kubelet: Path
    devinfo: Path
    pools: Pools
    registration: str = "auto"
    wrapper: Sequence[str] = ()
    """A command that starts the daemon with other rights or in another place."""
    options: Sequence[str] = ()
    """More flags."""
    keys: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Keys of pools beside their selectors."""
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def config(self) -> Path:
        return self.directory / "config.json"

    @property
    def log(self) -> Path:
        return self.directory / "daemon.log"

    def start(self) -> None:
        write_config(self.config, self.pools, self.keys)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._command(), stdout=log, stderr=log)

    def stop(self) -> tuple[int, float]:
        """Send SIGTERM; the exit status, and how many seconds it took."""
        assert self._process is not None
        self.assert_runs()
        before = time.monotonic()
        self._process.send_signal(signal.SIGTERM)
        status = self._process.wait(timeout=60)
        return status, time.monotonic() - before

    def assert_runs(self) -> None:
        assert self._process is not None
        assert self._process.poll() is None, f"the daemon ended by itself, status {self._process.returncode}"

    @property
    def proc(self) -> Path:
        """/proc/PID of the process."""
        assert self._process is not None
        return Path(f"/proc/{self._process.pid}")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if error is not None:
            print(f"--- {self.log}\n{self.log.read_text()}")

    def _command(self) -> list[str]:
        return [
            *self.wrapper,
            sys.executable,
            os.fspath(ROOT / "entrypoints" / "daemon.py"),
            f"--config-file={self.config}",
            "--resource-prefix=intel.com",
            "--root=/",
            f"--kubelet-dir={self.kubelet}",
            f"--devinfo-dir={self.devinfo}",
            f"--registration={self.registration}",
            "--log-level=10",
            *self.options,
        ]


def write_config(path: Path, pools: Pools, keys: Pools | None = None) -> None:
    listed = [
        {"resourceName": name, "selectors": selectors, **(keys or {}).get(name, {})}
        for name, selectors in pools.items()
    ]
    path.write_text(json.dumps({"resourceList": listed}))

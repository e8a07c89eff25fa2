"""The daemon as the image runs it: a process of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.bench.bed import Bed

ROOT: Final = Path(__file__).resolve().parents[2]
_STOP_WITHIN: Final = 60.0


@dataclass(frozen=True, slots=True)
class Program:
    """The product of this checkout under some interpreter."""

    python: str = sys.executable

    def command(self, module: str, *arguments: str) -> list[str]:
        return [self.python, str(ROOT / "entrypoints" / module), *arguments]

    def daemon(self, bed: Bed) -> list[str]:
        return self.command(
            "daemon.py",
            f"--config-file={bed.config}",
            f"--root={bed.host}",
            f"--kubelet-dir={bed.kubelet}",
            f"--devinfo-dir={bed.devinfo}",
        )

    def ask(self, expression: str) -> str:
        """The value of an expression under this interpreter."""
        code = f"import importlib.util, platform; print({expression})"
        return subprocess.run([self.python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()

    @property
    def environment(self) -> dict[str, str]:
        """With this checkout first, and with compiled files kept: an image has them all."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return {**kept, "PYTHONPATH": str(ROOT)}


@contextmanager
def running(program: Program, bed: Bed, wrapper: Sequence[str] = ()) -> Iterator[int]:
    """Run the daemon, inside of another command if there is a wrapper; its process id."""
    log = bed.directory / "daemon.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*wrapper, *program.daemon(bed)], stdout=output, stderr=output, env=program.environment
        )
    try:
        yield process.pid
        process.send_signal(signal.SIGTERM)
        process.wait(_STOP_WITHIN)
    except BaseException:
        sys.stderr.write(log.read_text())
        raise
    finally:
        process.kill()
        process.wait()

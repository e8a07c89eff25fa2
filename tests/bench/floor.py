"""What a start cannot go below: interpreter and imports."""

import subprocess
import time
from collections.abc import Iterator
from typing import Final

from tests.bench.daemon import Program
from tests.bench.figure import Figure

SECTION: Final = "floor"
_CODE: Final = {
    "python alone": "pass",
    "import grpc": "import grpc",
    "import grpc, gc off": "import gc; gc.disable(); import grpc",
    "imports of the daemon, gc off": "import gc; gc.disable(); import entrypoints.daemon",
}


_LEAVE: Final = "import os; os._exit(0)"
"""Without the interpreter's clean-up, which is no part of a start."""


def measure(program: Program, *, quick: bool) -> Iterator[Figure]:
    for name, code in _CODE.items():
        _seconds(program, code)
        yield Figure(SECTION, name, "s", [_seconds(program, code) for _ in range(3 if quick else 10)])


def _seconds(program: Program, code: str) -> float:
    begin = time.monotonic()
    subprocess.run([program.python, "-c", f"{code}; {_LEAVE}"], check=True, env=program.environment)
    return time.monotonic() - begin

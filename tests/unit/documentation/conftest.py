"""The hosts of the examples."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.unit.documentation.markdown import REPOSITORY, blocks


@pytest.fixture(scope="session")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Runs the program of a document that makes its simulated hosts, once."""

    @cache
    def made(document: str) -> Path:
        directory = tmp_path_factory.mktemp("hosts")
        (program,) = blocks(document, "python")
        (directory / "host.py").write_text(program, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        subprocess.run([sys.executable, "host.py"], check=True, cwd=directory, env=environment)
        return directory

    return made

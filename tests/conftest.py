"""Settings and fixtures for all tests."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# Before the first import of grpc: its core writes goaway notices to standard error otherwise.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A directory whose path leaves room for the names of unix sockets, which end at 107 bytes."""
    directory = Path(tempfile.mkdtemp(prefix="k", dir="/tmp"))
    yield directory
    shutil.rmtree(directory, ignore_errors=True)

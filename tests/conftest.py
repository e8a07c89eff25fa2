"""Fixtures for all tests."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A directory whose path leaves room for the names of unix sockets, which end at 107 bytes."""
    directory = Path(tempfile.mkdtemp(prefix="k", dir="/tmp"))
    yield directory
    shutil.rmtree(directory, ignore_errors=True)

"""Every test here runs before each kubelet that is built; without one it is skipped."""

from pathlib import Path
from typing import Final

import pytest

from tests.kubelet.binaries import binaries

_BINARIES: Final = binaries()
_NONE: Final = pytest.param("none", marks=pytest.mark.skip(reason="no kubelet is built: make kubelet-build (needs Go)"))


@pytest.fixture(params=[*_BINARIES] if _BINARIES else [_NONE])
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def binary(version: str) -> Path:
    return _BINARIES[version]


@pytest.fixture(params=["watcher", "classic"])
def way(request: pytest.FixtureRequest) -> str:
    """How the kubelet gets to know the pools."""
    return str(request.param)


@pytest.fixture(params=["none", "single-numa-node"])
def policy(request: pytest.FixtureRequest) -> str:
    """The kubelet's topology policy."""
    return str(request.param)

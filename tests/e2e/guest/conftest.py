"""Where each test finds its machine and its directories."""

from pathlib import Path

import pytest

from tests.e2e.guest import kubelet_side, layout


@pytest.fixture
def _layout() -> None:
    layout.lay_out()


@pytest.fixture
def kubelet_directory() -> Path:
    return kubelet_side.directory()


@pytest.fixture
def devinfo_directory(tmp_path: Path) -> Path:
    """Not there yet, as on a new node."""
    return tmp_path / "k8s.cni.cncf.io" / "devinfo" / "dp"

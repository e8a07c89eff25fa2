"""The kernel's modules for devices that are more than network devices; some are of tests/e2e/modules."""

import os
import subprocess
from pathlib import Path

import pytest

_NAMES = (
    *("rdma_rxe", "ib_uverbs", "ib_umad", "rdma_ucm"),
    *("vdpa_sim_net", "vhost_vdpa", "virtio_vdpa", "virtio_net"),
    *("devlink_shim", "netdevsim", "uio_pci_generic"),
)
_ABSENT = Path(f"/usr/lib/modules/{os.uname().release}/updates/absent")


def load() -> None:
    """Load all of them; where the bed was built without its own ones, skip the test with the reason."""
    if _ABSENT.exists():
        pytest.skip(f"the bed has no modules of its own: {_ABSENT.read_text().strip()}")
    subprocess.run(["modprobe", "-a", *_NAMES], check=True)

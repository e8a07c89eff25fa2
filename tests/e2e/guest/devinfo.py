"""Compares device-info files with what the kernel has."""

import json
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.e2e.guest import kernel


def check(directory: Path, offered: Mapping[str, Iterable[str]]) -> None:
    """Assert that there is a right, readable file for each device of each resource, and no other."""
    files = {path.name: path for path in directory.iterdir()}
    wanted = {
        f"{resource.replace('/', '-')}-{address}-device.json": address
        for resource, addresses in offered.items()
        for address in addresses
    }
    assert set(files) == set(wanted)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o755
    for name, address in wanted.items():
        assert stat.S_IMODE(files[name].stat().st_mode) == 0o644
        assert json.loads(files[name].read_text()) == _content(address)


def _content(address: str) -> dict[str, Any]:
    pci = {"pci-address": address}
    if pf := kernel.function(address).pf:
        pci["pf-pci-address"] = pf
    return {"type": "pci", "version": "1.1.0", "pci": pci}

"""Compares device-info files with what the kernel has."""

import json
import stat
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.e2e.guest import facilities, kernel, netlink


def check(
    directory: Path, offered: Mapping[str, Iterable[str]], uses: Mapping[str, Collection[str]] | None = None
) -> None:
    """Assert that there is a right, readable file for each device of each resource, and no other."""
    files = {path.name: path for path in directory.iterdir()}
    representors = netlink.representors()
    wanted = {
        f"{resource.replace('/', '-')}-{address}-device.json": _content(
            address, (uses or {}).get(resource, ()), representors
        )
        for resource, addresses in offered.items()
        for address in addresses
    }
    assert set(files) == set(wanted)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o755
    for name, content in wanted.items():
        assert stat.S_IMODE(files[name].stat().st_mode) == 0o644
        assert json.loads(files[name].read_text()) == content


def _content(address: str, uses: Collection[str], representors: Mapping[tuple[str, int], str]) -> dict[str, Any]:
    kind = "vdpa" if "vdpa" in uses else "pci"
    place: dict[str, str | None] = {"pci-address": address}
    if pf := kernel.function(address).pf:
        place |= {"pf-pci-address": pf, "representor-device": representors.get((pf, kernel.index(address)))}
    if "rdma" in uses:
        place["rdma-device"] = netlink.rdma_device(address)
    if "vhost" in uses:
        place["vhost-net"] = "/dev/vhost-net"
    if "vdpa" in uses:
        place |= _vdpa(netlink.vdpa_device(address))
    return {"type": kind, "version": "1.1.0", kind: {key: value for key, value in place.items() if value}}


def _vdpa(device: str) -> dict[str, str | None]:
    driver = str(kernel.vdpa_driver(device)).removesuffix("_vdpa")
    path = facilities.vhost_vdpa_node(device) if driver == "vhost" else None
    return {"parent-device": device, "driver": driver, "path": path}

"""What the kernel says by netlink about RDMA, vDPA and switches, asked for by iproute2's tools."""

import json
import subprocess
from typing import Any

from tests.e2e.guest import kernel


def rdma_device(address: str) -> str:
    """The RDMA device on a function's netdev."""
    netdev = kernel.netdev(address)
    (name,) = (link["ifname"] for link in _ask("rdma", "link", "show") if link.get("netdev") == netdev)
    return str(name)


def vdpa_device(address: str) -> str:
    """The vDPA device that a function's driver made."""
    devices = _ask("vdpa", "dev", "show")["dev"]
    (name,) = (name for name, device in devices.items() if device["mgmtdev"] == f"pci/{address}")
    return str(name)


def representors() -> dict[tuple[str, int], str]:
    """The netdevs that stand for VFs on the switches of their PFs, by the PF's address and the VF's index."""
    ports = _ask("devlink", "port", "show")["port"]
    return {
        (name.split("/")[1], port["vfnum"]): port["netdev"]
        for name, port in ports.items()
        if port["flavour"] == "pcivf"
    }


def _ask(tool: str, *arguments: str) -> Any:
    answer = subprocess.run([tool, "-j", *arguments], check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)

"""A large host with a bit of everything, and pools for all of it."""

from collections.abc import Mapping
from typing import Any, Final

from tests.hosts.auxiliary import AuxiliaryDevice, subfunction
from tests.hosts.function import Function
from tests.hosts.host import SimHost
from tests.hosts.iommu import VFIO
from tests.hosts.netdev import Netdev
from tests.hosts.rdma import RdmaDevice
from tests.hosts.vdpa import VdpaDevice

VFS: Final = 1024
SUBFUNCTIONS: Final = 256

#: Names of PFs to the number of their VFs or subfunctions.
_RDMA: Final = {"r0": 114, "r1": 114, "r2": 114}
_VFIO: Final = {"v0": 114, "v1": 114, "v2": 114}
_VDPA: Final = {"d0": 170}
_KERNEL: Final = {"k0": 170}
_SUBFUNCTIONS: Final = {"s0": 128, "s1": 128}
_MLX5: Final[Mapping[str, Any]] = {
    "vendor": "15b3",
    "device": "101d",
    "driver": "mlx5_core",
    "vf_device": "101e",
    "vf_driver": "mlx5_core",
}
_NODES: Final = 2


def everything() -> SimHost:
    """1,024 VFs, a third with RDMA, a third on vfio-pci, a sixth with vDPA; 256 subfunctions, half with RDMA."""
    host = SimHost()
    numbers = iter(range(10_000))
    for name, vfs in _RDMA.items():
        for vf in host.vfs(_pf(host, name, vfs, **_MLX5), vfs):
            _adopt_rdma(host, vf, next(numbers))
    for name, vfs in _VFIO.items():
        host.vfs(_pf(host, name, vfs), vfs, driver=VFIO)
    for name, vfs in _VDPA.items():
        for number, vf in enumerate(host.vfs(_pf(host, name, vfs, **_MLX5), vfs)):
            host.adopt(vf, VdpaDevice(f"vdpa{number}", number=number))
    for name, vfs in _KERNEL.items():
        host.vfs(_pf(host, name, vfs), vfs)
    sfs = iter(range(2, 10_000))
    for name, number in _SUBFUNCTIONS.items():
        pf = _pf(host, name, 0, **_MLX5)
        for index in range(number):
            rdma = [_rdma(next(numbers))] if index % 2 else []
            host.adopt(pf, subfunction(next(sfs), index, Netdev(f"{name}s{index}"), *rdma))
    return host


def pools() -> list[dict[str, Any]]:
    """Sixteen, for every device there is."""
    chosen: dict[str, dict[str, Any]] = {}
    chosen |= {f"rdma-{pf}": {"isRdma": True, "pfNames": [pf]} for pf in _RDMA}
    chosen |= {f"vfio-{pf}": {"drivers": [VFIO], "pfNames": [pf]} for pf in _VFIO}
    for half in ("0-84", "85-169"):
        chosen[f"vdpa-{half}"] = {"vdpaType": "vhost", "pfNames": [f"d0#{half}"]}
        chosen[f"kern-{half}"] = {"drivers": ["iavf"], "pfNames": [f"k0#{half}"]}
    found = [{"resourceName": name, "selectors": selectors} for name, selectors in chosen.items()]
    for pf in _SUBFUNCTIONS:
        for part in ("0-42", "43-85", "86-127"):
            selectors = {"pfNames": [f"{pf}#{part}"]}
            found.append({"resourceName": f"sf-{pf}-{part}", "deviceType": "auxNetDevice", "selectors": selectors})
    return found


def _pf(host: SimHost, name: str, vfs: int, **facts: Any) -> Function:
    """A PF on a bus of its own behind a port of its own; the next bus is for its VFs."""
    place = len([f for f in host.functions.values() if f.sriov])
    return host.pf(
        f"0000:{1 + 2 * place:02x}:00.0",
        netdevs=[name],
        numa=place % _NODES,
        bridges=(f"0000:00:{1 + place // 8:02x}.{place % 8}",),
        totalvfs=vfs,
        **facts,
    )


def _adopt_rdma(host: SimHost, vf: Function, number: int) -> None:
    host.adopt(vf, AuxiliaryDevice(f"mlx5_core.rdma.{number}"), _rdma(number))


def _rdma(number: int) -> RdmaDevice:
    return RdmaDevice(f"mlx5_{number}", uverbs=number, umad=number, issm=number)

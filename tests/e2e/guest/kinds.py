"""VFs of every kind, made as administrators make them, and a pool for each kind."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.guest import kernel, vfs

ALTNAME = "sriov-left"
PACKAGE = "Shim OS Package"  # modules/devlink_shim/instance.c
_VDPA_BUS = Path("/sys/bus/vdpa")
_NETDEVSIM = Path("/sys/bus/netdevsim")
_SHIM = Path("/sys/module/devlink_shim/parameters/add")


@dataclass(frozen=True)
class Pool:
    """A pool and what it has to offer."""

    selectors: Mapping[str, object]
    vfs: tuple[str, ...]
    uses: tuple[str, ...] = ()
    """What containers use besides, see facilities.of."""

    @property
    def needs_netlink(self) -> bool:
        """Importing pyroute2 takes the guest some seconds."""
        return not self.selectors.keys().isdisjoint({"pfNames", "ddpProfiles"})


def lay_out() -> dict[str, Pool]:
    """One PF with seven VFs, one with a switch, one that bypasses the IOMMU; the pools by their names."""
    first, second, _, beside = kernel.pfs()
    left, dpdk, forwarding, *verbs, vhost, virtio = vfs.create(first, 7)
    (switched,) = vfs.create(second, 1)
    noiommu, uio = vfs.create(beside, 2)
    vfs.drive("vfio-pci", dpdk, forwarding, noiommu)
    vfs.drive("uio_pci_generic", uio)
    vfs.drive("vf_vdpa_sim", vhost, virtio)
    add_rdma(*verbs)
    _VDPA_BUS.joinpath("drivers_autoprobe").write_text("0\n")
    _add_vdpa(vhost, "vhost_vdpa")
    _add_vdpa(virtio, "virtio_vdpa")
    _run(f"ip link property add dev {kernel.netdev(first)} altname {ALTNAME}")
    _SHIM.write_text(f"{second} {kernel.netdev(second)} 2\n")
    _add_netdevsim()
    vfs.settle()
    return {
        "rdma": Pool({"isRdma": True}, tuple(verbs), ("rdma",)),
        "vhost_vdpa": Pool({"vdpaType": "vhost"}, (vhost,), ("vdpa",)),
        "virtio_vdpa": Pool({"vdpaType": "virtio"}, (virtio,), ("vdpa",)),
        "forwarding": Pool({"rootDevices": [f"{first}#2"], "needVhostNet": True}, (forwarding,), ("vhost",)),
        "noiommu": Pool({"rootDevices": [beside], "drivers": ["vfio-pci"]}, (noiommu,)),
        "uio": Pool({"drivers": ["uio_pci_generic"]}, (uio,)),
        "dpdk": Pool({"drivers": ["vfio-pci"]}, (dpdk,)),
        "left": Pool({"pfNames": [f"{ALTNAME}#0"]}, (left,)),
        "package": Pool({"ddpProfiles": [PACKAGE]}, (switched,)),
    }


def remove() -> None:
    first = kernel.pfs()[0]
    _NETDEVSIM.joinpath("del_device").write_text("10\n")
    _run("modprobe --remove devlink_shim")
    _run(f"ip link property del dev {kernel.netdev(first)} altname {ALTNAME}")
    _VDPA_BUS.joinpath("drivers_autoprobe").write_text("1\n")
    vfs.remove_all()


def add_rdma(*addresses: str) -> None:
    for vf in addresses:
        _run(f"rdma link add rxe{kernel.index(vf)} type rxe netdev {kernel.netdev(vf)}")
    vfs.settle()


def delete_rdma(device: str) -> None:
    _run(f"rdma link delete {device}")
    vfs.settle()


def _add_vdpa(vf: str, bus_driver: str) -> None:
    name = f"vdpa{kernel.index(vf)}"
    _run(f"vdpa dev add name {name} mgmtdev pci/{vf}")
    (kernel.VDPA / name / "driver_override").write_text(f"{bus_driver}\n")
    _VDPA_BUS.joinpath("drivers_probe").write_text(f"{name}\n")
    assert kernel.vdpa_driver(name) == bus_driver


def _add_netdevsim() -> None:
    """A switch with ports of the same names as the PF's, below no PCI function."""
    _NETDEVSIM.joinpath("new_device").write_text("10 1\n")
    _NETDEVSIM.joinpath("devices/netdevsim10/sriov_numvfs").write_text("2\n")
    _run("devlink dev eswitch set netdevsim/netdevsim10 mode switchdev")


def _run(command: str) -> None:
    subprocess.run(command.split(), check=True)

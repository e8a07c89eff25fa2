"""The hosts that ``facts/cases.md`` calls H1 to H4, and the one of the demo."""

from tests.hosts.auxiliary import AuxiliaryDevice
from tests.hosts.function import Function
from tests.hosts.host import SimHost
from tests.hosts.iommu import VFIO
from tests.hosts.rdma import RdmaDevice


def h1(vfs: int = 4, driver: str = "iavf") -> SimHost:
    """H1: one Intel PF with VFs on the kernel driver."""
    host = SimHost()
    pf = host.pf("0000:3b:00.0", netdevs=["ens1f0"], iommu_group=100)
    for index in range(vfs):
        host.vf(pf, index, driver=driver, iommu_group=101 + index)
    return host


def h2() -> SimHost:
    """H2: as H1, with the VFs on vfio-pci in IOMMU groups 101 to 104."""
    return h1(driver=VFIO)


def h3() -> SimHost:
    """H3: two ConnectX-6 Dx PFs with two VFs each, all with RDMA devices."""
    host = SimHost()
    for number, offset, first in ((0, 2, 4), (1, 65, 2)):
        pf = host.pf(
            f"0000:5e:00.{number}",
            vendor="15b3",
            device="101d",
            subsystem=("15b3", "0016"),
            driver="mlx5_core",
            netdevs=[f"ens2f{number}"],
            vf_device="101e",
            vf_driver="mlx5_core",
            offset=offset,
        )
        _mlx5(host, pf, number)
        for index, vf in enumerate(host.vfs(pf, 2)):
            _mlx5(host, vf, first + index)
    return host


def h4() -> SimHost:
    """H4: a guest without IOMMU; VFs without PF, on vfio-pci."""
    host = SimHost(noiommu=True)
    for slot in range(6, 10):
        host.function(f"0000:00:{slot:02x}.0", device="154c", driver=VFIO, numa=-1, bridges=())
    return host


def demo() -> SimHost:
    """Two PFs on two NUMA nodes with eight VFs each, the upper half of them on vfio-pci."""
    host = SimHost()
    for number, bus in enumerate(("3b", "af")):
        pf = host.pf(
            f"0000:{bus}:00.0",
            netdevs=[f"ens{number + 1}f0"],
            numa=number,
            bridges=(f"0000:{('3a', 'ae')[number]}:00.0",),
        )
        for index in range(8):
            host.vf(pf, index, driver="iavf" if index < 4 else VFIO)
    return host


def _mlx5(host: SimHost, function: Function, number: int) -> None:
    """What mlx5 makes besides the netdev; each auxiliary device has the function's number."""
    kinds = ("eth", "rdma")
    host.adopt(
        function,
        *(AuxiliaryDevice(f"mlx5_core.{kind}.{number}") for kind in kinds),
        RdmaDevice(f"mlx5_{number}", uverbs=number, umad=number, issm=number),
    )

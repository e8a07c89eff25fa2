"""Hosts of any size."""

from typing import Final

from tests.hosts.host import SimHost
from tests.hosts.iommu import VFIO

_OFFSET: Final = 8
_BUSES: Final = 256
_ON_A_BUS: Final = 256


def scale(pfs: int, vfs_per_pf: int, driver: str = VFIO) -> SimHost:
    """*pfs* PFs with *vfs_per_pf* VFs each on *driver*, spread over NUMA nodes 0 and 1.

    A PF has a bus below a root port of its own, and as many buses after it as its VFs need; when
    the buses are used up the next PCI domain follows.
    """
    host = SimHost()
    buses = 1 + (_OFFSET + max(vfs_per_pf, 1) - 1) // _ON_A_BUS
    in_a_domain = (_BUSES - 1) // buses
    for number in range(pfs):
        domain, place = divmod(number, in_a_domain)
        port = f"{domain:04x}:00:{1 + place // 8:02x}.{place % 8}"
        pf = host.pf(
            f"{domain:04x}:{1 + place * buses:02x}:00.0",
            netdevs=[f"p{number}"],
            numa=number % 2,
            bridges=(port,),
            totalvfs=max(vfs_per_pf, 1),
            offset=_OFFSET,
        )
        host.vfs(pf, vfs_per_pf, driver=driver)
    return host

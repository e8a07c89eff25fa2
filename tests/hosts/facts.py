"""What can be said of a function when a host is described."""

from collections.abc import Iterable, Sequence
from typing import TypedDict

from tests.hosts.child import ChildDevice
from tests.hosts.netdev import Netdev


class Facts(TypedDict, total=False):
    """What can be said of a function; the rest is as `PciIds` and `Function` have it."""

    vendor: str
    device: str
    class_code: str
    subsystem: tuple[str, str]
    driver: str | None
    numa: int | None
    iommu_group: int | None  # left out: the next free one; None: no IOMMU
    acpi_index: int | None
    bridges: Sequence[str]
    netdevs: Iterable[str | Netdev]
    children: Iterable[ChildDevice]


class PfFacts(Facts, total=False):
    """What can be said of a PF besides, as `Sriov` has it."""

    totalvfs: int
    vf_device: str
    vf_driver: str | None
    offset: int
    stride: int

"""Random small hosts with every facility there is."""

from itertools import count

from hypothesis import strategies as st
from hypothesis.vendor.pretty import RepresentationPrinter

from tests.hosts.auxiliary import AuxiliaryDevice, subfunction
from tests.hosts.child import ChildDevice
from tests.hosts.function import Function
from tests.hosts.host import SimHost
from tests.hosts.ids import ACCELERATOR
from tests.hosts.iommu import VFIO
from tests.hosts.netdev import INFINIBAND, Netdev
from tests.hosts.rdma import RdmaDevice
from tests.hosts.representor import switchdev
from tests.hosts.uio import UioDevice
from tests.hosts.upper import Kind
from tests.hosts.vdpa import VHOST, VIRTIO, VdpaDevice
from tests.hosts.vhost import TUN, VHOST_NET

BUSES = ("3b", "5e", "af")
_KINDS: tuple[Kind, ...] = ("bond", "bridge", "vlan", "team", "openvswitch")


class RandomHost(SimHost):
    """A host that hypothesis can show in a few lines."""

    def _repr_pretty_(self, printer: RepresentationPrinter, cycle: bool) -> None:
        functions = (
            f"{bdf} {f.driver} {[getattr(c, 'name', type(c).__name__) for c in f.children]}"
            for bdf, f in self.functions.items()
        )
        uses = [*((u.kind, u.lowers) for u in self.uppers), *(r.interface for r in self.routes)]
        printer.text(f"<noiommu={self.noiommu} iommufd={self.iommufd} {'; '.join(functions)}; {uses} {self.nodes}>")


class Numbers:
    """The next free number of each kind of device."""

    def __init__(self) -> None:
        self.rdma, self.uio, self.vdpa, self.sf = count(), count(), count(), count(4)


@st.composite
def hosts(draw: st.DrawFn) -> RandomHost:
    """One to three PFs with up to three VFs each, subfunctions, a function of its own, and what the host does."""
    host = RandomHost(noiommu=draw(st.booleans()), iommufd=draw(st.booleans()))
    numbers = Numbers()
    for bus in BUSES[: draw(st.integers(1, 3))]:
        make = draw(st.sampled_from((_intel, _mellanox, _mellanox, _accelerator)))
        make(draw, host, numbers, bus)
    if draw(st.booleans()):
        host.function("10000:e1:00.0", driver=draw(st.sampled_from((VFIO, "igb", None))), numa=None, bridges=())
    if draw(st.booleans()):
        host.function("0000:00:03.0", vendor="1af4", driver="virtio-pci", class_code="020000", netdevs=["eth0"])
    _uses(draw, host)
    host.nodes += draw(st.sampled_from(((VHOST_NET, TUN), (VHOST_NET, TUN), (TUN,), ())))
    return host


def _intel(draw: st.DrawFn, host: SimHost, numbers: Numbers, bus: str) -> None:
    pf = host.pf(f"0000:{bus}:00.0", netdevs=[f"ens{bus}f0"], numa=draw(st.sampled_from((None, -1, 0, 1))))
    for index in range(draw(st.integers(0, 3))):
        driver = draw(st.sampled_from(("iavf", VFIO, VFIO, "igb_uio", "uio_pci_generic", None)))
        children: list[ChildDevice] = []
        if driver in {"igb_uio", "uio_pci_generic"}:
            children.append(UioDevice(next(numbers.uio), driver))
        if driver == "iavf" and draw(st.booleans()):
            children.append(_rdma(draw, numbers))
        group: int | None = draw(st.sampled_from((None, 7, 8 + index)))
        host.vf(pf, index, driver=driver, children=children, iommu_group=group)


def _mellanox(draw: st.DrawFn, host: SimHost, numbers: Numbers, bus: str) -> None:
    link = draw(st.sampled_from((1, INFINIBAND)))
    port = Netdev(f"ens{bus}f0", link_type=link)
    ports = switchdev(port, 2, switch_id=f"aa{bus}") if draw(st.booleans()) else (port,)
    pf = host.pf(
        f"0000:{bus}:00.0", vendor="15b3", device="101d", driver="mlx5_core", vf_driver="mlx5_core", netdevs=ports
    )
    host.adopt(pf, _rdma(draw, numbers))
    for index in range(draw(st.integers(0, 3))):
        vf = host.vf(pf, index, netdevs=[Netdev(f"ens{bus}f0v{index}", link_type=link)])
        host.adopt(vf, *_facilities(draw, numbers))
    for _ in range(draw(st.integers(0, 2))):
        number = next(numbers.sf)
        netdevs = [Netdev(f"sf{number}")] if draw(st.booleans()) else []
        host.adopt(pf, subfunction(number, 80 + number, *netdevs, *_facilities(draw, numbers)))


def _accelerator(draw: st.DrawFn, host: SimHost, numbers: Numbers, bus: str) -> None:
    code = draw(st.sampled_from((ACCELERATOR, "0b4000")))
    pf = host.pf(f"0000:{bus}:00.0", device="0d5c", class_code=code, driver="pci-pf-stub")
    for index in range(draw(st.integers(0, 3))):
        uio = draw(st.booleans())
        children = [UioDevice(next(numbers.uio))] if uio else []
        host.vf(pf, index, driver="igb_uio" if uio else VFIO, children=children)


def _facilities(draw: st.DrawFn, numbers: Numbers) -> list[ChildDevice]:
    """What mlx5 makes below a VF or subfunction."""
    children: list[ChildDevice] = []
    if draw(st.booleans()):
        number = next(numbers.rdma)
        children.append(AuxiliaryDevice(f"mlx5_core.rdma.{number}", bound=draw(st.booleans())))
    children += (_rdma(draw, numbers) for _ in range(draw(st.sampled_from((0, 1, 1, 2)))))
    if draw(st.booleans()):
        number = next(numbers.vdpa)
        driver = draw(st.sampled_from((VHOST, VHOST, VIRTIO, None)))
        netdev = Netdev(f"vdpa{number}n") if driver == VIRTIO else None
        children.append(VdpaDevice(f"vdpa{number}", driver, number, netdev=netdev))
    return children


def _rdma(draw: st.DrawFn, numbers: Numbers) -> RdmaDevice:
    number = next(numbers.rdma)
    uverbs, umad, issm = (number if draw(st.integers(0, 4)) else None for _ in range(3))
    return RdmaDevice(f"mlx5_{number}", uverbs, umad, issm, pkeys=draw(st.sampled_from((("0x7fff",), ("0xffff",), ()))))


def _uses(draw: st.DrawFn, host: SimHost) -> None:
    """Interfaces that the host itself stacks others on, or sends its traffic through."""
    names = sorted(name for function in host.functions.values() for name in _netdevs(function))
    if not names:
        return
    if draw(st.booleans()):
        lowers = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
        host.over(draw(st.sampled_from(_KINDS)), "upper0", *lowers)
    if draw(st.booleans()):
        host.default_route(draw(st.sampled_from(names)), draw(st.sampled_from(("192.0.2.1", "fe80::1"))))


def _netdevs(function: Function) -> list[str]:
    return [netdev.name for netdev in function.netdevs]

"""A host described in Python: functions, interfaces over them, routes and device nodes."""

from dataclasses import dataclass, field
from itertools import count
from typing import Unpack

from tests.hosts.child import ChildDevice
from tests.hosts.facts import Facts, PfFacts
from tests.hosts.function import WITHOUT_NETDEV, Function
from tests.hosts.ids import BRIDGE, NETWORK, PciIds
from tests.hosts.interfaces import numbered
from tests.hosts.iommu import VFIO, IommuGroup
from tests.hosts.netdev import Netdev
from tests.hosts.routes import Route, default
from tests.hosts.sriov import Sriov
from tests.hosts.upper import Kind, Upper, upper
from tests.hosts.vfio import VfioDevice


@dataclass(slots=True)
class HostDescription:
    """PCI functions, interfaces over them, routes and device nodes.

    *noiommu*: vfio makes the groups (``enable_unsafe_noiommu_mode``). *iommufd*: vfio-pci makes a
    node a device too.
    """

    noiommu: bool = False
    iommufd: bool = False
    functions: dict[str, Function] = field(default_factory=dict)
    uppers: list[Upper] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    _groups: dict[str, int] = field(default_factory=dict)
    _free_group: int = 0
    _ifindexes: "count[int]" = field(default_factory=lambda: count(2))
    _vfio: "count[int]" = field(default_factory=count)

    def function(self, bdf: str, **facts: Unpack[Facts]) -> Function:
        """A function without SR-IOV: a plain NIC, an accelerator, a VF in a guest."""
        return self._function(bdf, facts)

    def pf(self, bdf: str, **facts: Unpack[PfFacts]) -> Function:
        """A PF; without other facts an Intel E810 for eight VFs."""
        facts.setdefault("driver", "ice")
        function = self._function(bdf, facts)
        function.sriov = Sriov(
            facts.get("totalvfs", 8),
            facts.get("vf_device", "1889"),
            facts.get("vf_driver", "iavf"),
            facts.get("offset", 8),
            facts.get("stride", 1),
        )
        return function

    def vf(self, pf: Function, index: int, bdf: str = "", **facts: Unpack[Facts]) -> Function:
        """A VF; what is not said follows from its PF: address, ids, driver, bridges, NUMA node.

        Under a kernel driver it has a netdev named after the PF's, unless *netdevs* says else.
        """
        assert pf.sriov
        facts.setdefault("vendor", pf.ids.vendor)
        facts.setdefault("device", pf.sriov.vf_device)
        facts.setdefault("subsystem", pf.ids.subsystem)
        facts.setdefault("class_code", pf.ids.class_code)
        facts.setdefault("driver", pf.sriov.vf_driver)
        facts.setdefault("numa", pf.numa)
        facts.setdefault("bridges", pf.bridges)
        if facts["driver"] not in {None, *WITHOUT_NETDEV} and pf.netdevs:
            facts.setdefault("netdevs", (f"{pf.netdevs[0].name}v{index}",))
        vf = self._function(bdf or pf.sriov.vf_at(pf.bdf, index), facts)
        vf.physfn, vf.index = pf, index
        pf.vfs[index] = vf
        return vf

    def vfs(self, pf: Function, number: int, **facts: Unpack[Facts]) -> list[Function]:
        """The first *number* VFs of a PF, all alike."""
        return [self.vf(pf, index, **facts) for index in range(number)]

    def adopt(self, function: Function, *children: ChildDevice) -> None:
        """Give a function children; what vfio-pci makes comes by itself.

        This describes: a host that lies already changes by what `LaidHost` does.
        """
        function.children += (numbered(c, self._ifindexes) for c in children)
        if function.driver == VFIO and not any(isinstance(c, VfioDevice) for c in function.children):
            function.children.append(VfioDevice(next(self._vfio), cdev=self.iommufd))

    def over(self, kind: Kind, name: str, *lowers: str, vlan: int = 0) -> None:
        """An interface over others: a bond, bridge, VLAN, team, or ``ovs-system``."""
        self.uppers.append(upper(kind, name, lowers, next(self._ifindexes), vlan))

    def default_route(self, interface: str, gateway: str, metric: int = 0) -> None:
        self.routes.append(default(interface, gateway, metric))

    def bridges(self) -> list[Function]:
        """The bridges on the way to the functions, outer ones first."""
        whole = {tuple(f.bridges) for f in self.functions.values()}
        ways = {way[: depth + 1] for way in whole for depth in range(len(way))}
        return [
            Function(
                way[-1],
                PciIds("1b36", "000c", BRIDGE, ("1b36", "0000")),
                driver="pcieport",
                numa=-1,
                bridges=way[:-1],
            )
            for way in sorted(ways)
        ]

    def _function(self, bdf: str, facts: Facts) -> Function:
        ids = PciIds(
            facts.get("vendor", "8086"),
            facts.get("device", "1592"),
            facts.get("class_code", NETWORK),
            facts.get("subsystem", ("8086", "0000")),
        )
        function = Function(
            bdf,
            ids,
            driver=facts.get("driver"),
            numa=facts.get("numa", 0),
            iommu=self._group(bdf, facts),
            acpi_index=facts.get("acpi_index"),
            bridges=facts.get("bridges", (f"{bdf.partition(':')[0]}:00:01.0",)),
        )
        self.functions[bdf] = function
        netdevs = (_netdev(n) for n in facts.get("netdevs", ()))
        self.adopt(function, *netdevs, *facts.get("children", ()))
        return function

    def _group(self, bdf: str, facts: Facts) -> IommuGroup | None:
        """The group that was said, or the one the address had before, or a new one."""
        number = facts.get("iommu_group", self._groups.get(bdf, self._free_group))
        if number is None:
            return None
        self._free_group = max(self._free_group, number + 1)
        self._groups[bdf] = number
        return IommuGroup(number, self.noiommu)


def _netdev(netdev: str | Netdev) -> Netdev:
    return netdev if isinstance(netdev, Netdev) else Netdev(netdev)

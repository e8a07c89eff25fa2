"""The host in one linear pass: a constant number of system calls for each PCI function."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from adapters.sysfs.foundations import Foundations
from adapters.sysfs.functions import Unreadable, is_as_known, read_function
from adapters.sysfs.interfaces import InterfaceClass, still_below
from adapters.sysfs.nodes import Nodes, nodes_of_facilities, nodes_of_function
from adapters.sysfs.routes import default_routes
from adapters.sysfs.subfunctions import read_subfunction, subfunctions
from adapters.sysfs.tree import Tree
from adapters.sysfs.vdpa import BUS as VDPA_BUS
from adapters.sysfs.vf_count import VfCounts
from adapters.sysfs.vf_places import DEVICES, VfPlace, VfRange, let_go, not_linked, vf_places, vf_range
from application.ports.journal import Journal
from domain.errors import InvalidPciAddress
from domain.host import AuxiliaryDevice, Host, PciFunction
from domain.pci import PciAddress


class SysfsHostReader:
    """Reads /sys, /proc/net and /dev below a root (port HostReader); the journal is told what is missing there."""

    def __init__(self, root: Path, journal: Journal | None = None) -> None:
        self._tree = Tree(root)
        self._foundations = Foundations(self._tree, journal)
        self._nodes = Nodes(self._tree)
        self._vf_counts = VfCounts(self._tree)

    def read(self) -> Host:
        tree, foundations = self._tree, self._foundations
        functions: dict[PciAddress, PciFunction] = {}
        auxiliary: dict[str, AuxiliaryDevice] = {}
        unreadable: dict[str, str] = {}
        places: dict[PciAddress, VfPlace] = {}
        ranges: list[VfRange] = []
        on_vdpa_bus = frozenset(tree.names(VDPA_BUS))
        # In this order a PF comes before its VFs, whose places are in the PF's directory.
        for name in sorted(foundations.names(DEVICES, "there are no devices")):
            try:
                address = PciAddress.parse(name)
                function, names = read_function(tree, self._vf_counts, address, places.get(address), on_vdpa_bus)
            except (InvalidPciAddress, Unreadable) as error:
                unreadable[name] = str(error)
                continue
            if "sriov_totalvfs" in names:
                ranges += vf_range(tree, function)
            elif not function.physfn and (why := let_go(ranges, function)):
                unreadable[name] = why
                continue
            functions[address] = function
            if function.vf_count:
                places.update(vf_places(tree, address, names))
            if function.auxiliary:
                found = subfunctions(tree, f"{DEVICES}/{name}", address, function.auxiliary, on_vdpa_bus)
                auxiliary.update((subfunction.name, subfunction) for subfunction in found)
        interfaces = InterfaceClass(tree, foundations)
        physical = [i for function in functions.values() for i in function.interfaces]
        physical += (i for subfunction in auxiliary.values() for i in subfunction.interfaces)
        for address, found_interface in interfaces.elsewhere({i.name for i in physical}):
            if owner := functions.get(address):
                functions[address] = replace(owner, interfaces=(*owner.interfaces, found_interface))
                physical.append(found_interface)
        switched = any(i.switch_id for f in functions.values() if not f.physfn for i in f.interfaces)
        ipv4 = foundations.text("proc/net/route", "nobody knows which function has the host's default route")
        routes = default_routes(ipv4, foundations.text("proc/net/ipv6_route"))  # not there with ipv6.disable=1
        return Host(
            functions=functions,
            auxiliary=auxiliary,
            unreadable=unreadable,
            default_routes=tuple(routes),
            uppers=interfaces.uppers(physical),
            port_interfaces=tuple(interfaces.switch_ports()) if switched else (),
            nodes=self._nodes.read(functions.values(), auxiliary.values()),
        )

    def reread(self, host: Host, ids: Collection[str]) -> Host:
        tree = self._tree
        functions = dict(host.functions)
        auxiliary = dict(host.auxiliary)
        unreadable = dict(host.unreadable)
        on_vdpa_bus = frozenset(tree.names(VDPA_BUS))
        candidates: list[str] = []
        for id_ in ids:
            try:
                if id_ in auxiliary:
                    subfunction = self._subfunction(auxiliary.pop(id_), on_vdpa_bus)
                    auxiliary[id_] = subfunction
                    candidates += nodes_of_facilities(subfunction.rdma, subfunction.vdpa)
                else:
                    address = PciAddress.parse(id_)
                    known = functions.pop(address, None)
                    if known and is_as_known(tree, known):
                        functions[address] = known
                        candidates += nodes_of_function(known)
                        continue
                    function, names = read_function(tree, self._vf_counts, address, _place(known), on_vdpa_bus)
                    if why := self._let_go(host, known, function, names):
                        unreadable[id_] = why
                        continue
                    functions[address] = self._with_interfaces_in_between(function, known)
                    candidates += nodes_of_function(function)
            except (InvalidPciAddress, Unreadable) as error:
                unreadable[id_] = str(error)
        return replace(
            host,
            functions=functions,
            auxiliary=auxiliary,
            unreadable=unreadable,
            nodes=self._nodes.again(host.nodes, candidates),
        )

    def _with_interfaces_in_between(self, function: PciFunction, known: PciFunction | None) -> PciFunction:
        """A function that is read again, with those of its interfaces that its own directory does not lead to."""
        seen = {interface.name for interface in function.interfaces}
        others = [interface for interface in known.interfaces if interface.name not in seen] if known else []
        found = tuple(still_below(self._tree, function.address, others))
        return replace(function, interfaces=function.interfaces + found) if found else function

    def _let_go(self, host: Host, known: PciFunction | None, function: PciFunction, names: Sequence[str]) -> str | None:
        """Why a function that is read again is one that its PF has let go of; None if it is not."""
        if "physfn" in names:
            return None
        if known:
            return not_linked(known.physfn) if known.physfn else None
        pfs = (pf for pf in host.functions.values() if not pf.physfn and pf.vendor == function.vendor)
        return let_go((range_ for pf in pfs for range_ in vf_range(self._tree, pf)), function)

    def _subfunction(self, known: AuxiliaryDevice, on_vdpa_bus: frozenset[str]) -> AuxiliaryDevice:
        path = f"{DEVICES}/{known.parent}/{known.name}"
        if not self._tree.exists(path):
            raise Unreadable("gone from the host")
        return read_subfunction(self._tree, path, known.parent, on_vdpa_bus)


def _place(known: PciFunction | None) -> VfPlace | None:
    if known is None or known.physfn is None or known.vf_index is None:
        return None
    return VfPlace(known.physfn, known.vf_index)

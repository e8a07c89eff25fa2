"""The host in one linear pass: a constant number of system calls for each PCI function."""

from collections.abc import Collection
from pathlib import Path

from adapters.sysfs.functions import DEVICES, Unreadable, read_function, vf_indices
from adapters.sysfs.interfaces import switch_ports, uppers, virtual_interfaces
from adapters.sysfs.routes import default_routes
from adapters.sysfs.tree import Tree
from domain.errors import InvalidPciAddress
from domain.host import Host, PciFunction
from domain.pci import PciAddress

_VFIO = "dev/vfio"


class SysfsHostReader:
    """Reads /sys, /proc/net and /dev below a root (port HostReader)."""

    def __init__(self, root: Path) -> None:
        self._tree = Tree(root)

    def read(self) -> Host:
        tree = self._tree
        functions: dict[PciAddress, PciFunction] = {}
        unreadable: dict[str, str] = {}
        indices: dict[PciAddress, int] = {}
        # In this order a PF comes before its VFs, whose indices are in the PF's directory.
        for name in sorted(tree.names(DEVICES)):
            try:
                address = PciAddress.parse(name)
                function, names = read_function(tree, address, indices.get(address))
            except (InvalidPciAddress, Unreadable) as error:
                unreadable[name] = str(error)
                continue
            functions[address] = function
            if function.vf_count:
                indices.update(vf_indices(tree, address, names))
        virtual = virtual_interfaces(tree)
        physical = [
            (interface.name, f"{DEVICES}/{function.address}/net/{interface.name}")
            for function in functions.values()
            for interface in function.interfaces
        ]
        switched = any(i.switch_id for f in functions.values() if not f.physfn for i in f.interfaces)
        return Host(
            functions=functions,
            unreadable=unreadable,
            default_routes=tuple(
                default_routes(tree.text("proc/net/route") or "", tree.text("proc/net/ipv6_route") or "")
            ),
            uppers=uppers(tree, virtual, physical),
            port_interfaces=tuple(switch_ports(tree, virtual)) if switched else (),
            nodes=frozenset(f"/{_VFIO}/{name}" for name in tree.names(_VFIO)),
        )

    def reread(self, host: Host, addresses: Collection[PciAddress]) -> Host:
        functions = dict(host.functions)
        unreadable = dict(host.unreadable)
        nodes = set(host.nodes)
        for address in addresses:
            known = functions.pop(address, None)
            try:
                function, _ = read_function(self._tree, address, known.vf_index if known else None)
            except Unreadable as error:
                unreadable[str(address)] = str(error)
                continue
            functions[address] = function
            for name in ("vfio", function.iommu_group):
                if name is not None:
                    node = f"{_VFIO}/{name}"
                    (nodes.add if self._tree.exists(node) else nodes.discard)(f"/{node}")
        return Host(
            functions=functions,
            unreadable=unreadable,
            default_routes=host.default_routes,
            uppers=host.uppers,
            port_interfaces=host.port_interfaces,
            nodes=frozenset(nodes),
        )

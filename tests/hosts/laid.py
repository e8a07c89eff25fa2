"""A host that lies below a root directory and changes as the kernel would change it."""

from collections.abc import Callable
from dataclasses import replace
from errno import EBUSY, ERANGE
from pathlib import Path
from typing import Unpack

from tests.hosts.child import ChildDevice
from tests.hosts.description import HostDescription
from tests.hosts.facts import Facts
from tests.hosts.function import WITHOUT_NETDEV, Function
from tests.hosts.interfaces import interfaces_below, netdevs_among
from tests.hosts.netdev import Netdev
from tests.hosts.rdma import RdmaDevice
from tests.hosts.tree import Tree
from tests.hosts.uses import HostUses


class LaidHost:
    """A simulated host in use; what changes here changes description and tree alike.

    *uses* is what the host itself does with its interfaces: routes, bonds, bridges.
    """

    def __init__(self, description: HostDescription, tree: Tree) -> None:
        self.description = description
        self.tree = tree
        self.uses = HostUses(description, tree)
        self._names: dict[str, list[str]] = {}

    @property
    def root(self) -> Path:
        return self.tree.root

    def function(self, bdf: str) -> Function:
        return self.description.functions[bdf]

    def interfaces(self) -> dict[str, str]:
        """Where each network interface lies, by name."""
        found = {u.name: f"sys/devices/virtual/net/{u.name}" for u in self.description.uppers}
        for function in self.description.functions.values():
            found.update(interfaces_below(function.path, function.children))
        return found

    # -- functions --------------------------------------------------------------------------------
    def add(self, function: Function) -> None:
        """Plug in what was described after the host was laid out."""
        for each in (function, *function.vfs.values()):
            each.lay(self.tree)

    def remove_function(self, bdf: str) -> None:
        """Unplug it; the VFs of a PF go first."""
        function = self.function(bdf)
        gone = (*function.vfs.values(), function)
        names = [name for each in gone for name in self._interface_names(each)]
        function.remove(self.tree)
        for each in gone:
            del self.description.functions[each.bdf]
        self.uses.let_go(names)

    def create_vfs(self, pf: str, number: int, **facts: Unpack[Facts]) -> list[Function]:
        """Write *number* to ``sriov_numvfs``; *facts* as for `HostDescription.vf`."""
        parent = self.function(pf)
        if parent.vfs:
            raise OSError(EBUSY, "there are VFs already: remove them first", pf)
        if not parent.sriov or number > parent.sriov.totalvfs:
            raise OSError(ERANGE, f"cannot have {number} VFs", pf)
        vfs = self.description.vfs(parent, number, **facts)
        for vf in vfs:
            vf.lay(self.tree)
        self.tree.text(f"{parent.path}/sriov_numvfs", number)
        return vfs

    def remove_vfs(self, pf: str) -> None:
        """Write 0 to ``sriov_numvfs``."""
        parent = self.function(pf)
        for vf in list(parent.vfs.values()):
            self.remove_function(vf.bdf)
        self.tree.text(f"{parent.path}/sriov_numvfs", 0)

    def rebind(self, bdf: str, driver: str | None, *children: ChildDevice) -> None:
        """Give a function another driver, or none.

        Without *children* a kernel driver makes a netdev of the name there was before, and for a
        VF that had none one named after the PF's.
        """
        function = self.function(bdf)
        names = self._interface_names(function)
        if own := [n.name for n in (*function.netdevs, *netdevs_among(function.left_for_pod))]:
            self._names[bdf] = own
        function.unbind(self.tree)
        self.uses.let_go(names)
        if driver is None:
            return
        function.driver = driver
        if not children and driver not in WITHOUT_NETDEV:
            children = tuple(map(Netdev, self._names.get(bdf) or _vf_name(function)))
        self.description.adopt(function, *children)
        function.bind(self.tree)

    # -- interfaces -------------------------------------------------------------------------------
    def set_carrier(self, interface: str, carrier: bool) -> None:
        """The link comes or goes; for a PF's interface its VFs' own netdevs do not tell."""
        self._change(interface, lambda n: replace(n, carrier=carrier, operstate=None))

    def set_up(self, interface: str, up: bool) -> None:
        """``ip link set <interface> up`` or ``down``."""
        self._change(interface, lambda n: replace(n, up=up, operstate=None))

    def move_netdev_to_pod(self, bdf: str, *, rdma: bool = False) -> None:
        """A CNI takes the function's netdevs; with *rdma* (exclusive mode) its RDMA device too."""
        function = self.function(bdf)
        for child in list(function.children):
            if isinstance(child, Netdev) or (rdma and isinstance(child, RdmaDevice)):
                child.leave_for_pod(self.tree, function.path)
                function.children.remove(child)
                function.left_for_pod.append(child)
        self.uses.let_go([n.name for n in netdevs_among(function.left_for_pod)])

    def return_netdev(self, bdf: str, name: str | None = None) -> None:
        """All that went to the pod comes back; after a crash under the pod's *name* (``net1``)."""
        function = self.function(bdf)
        for child in function.left_for_pod:
            back = replace(child, name=name) if name and isinstance(child, Netdev) else child
            back.lay(self.tree, function.path)
            function.children.append(back)
        function.left_for_pod = []

    # -- inside -----------------------------------------------------------------------------------
    def _change(self, interface: str, change: Callable[[Netdev], Netdev]) -> None:
        for function in self.description.functions.values():
            for at, child in enumerate(function.children):
                if isinstance(child, Netdev) and child.name == interface:
                    changed = change(child)
                    function.children[at] = changed
                    changed.lay_link(self.tree, f"{function.path}/net/{interface}")
                    return
        raise KeyError(interface)

    def _interface_names(self, function: Function) -> list[str]:
        return [name for name, _ in interfaces_below(function.path, function.children)]


def _vf_name(function: Function) -> list[str]:
    pf = function.physfn
    return [f"{pf.netdevs[0].name}v{function.index}"] if pf and pf.netdevs else []

"""The simulated host: described, then laid out below a root directory."""

from pathlib import Path

from tests.hosts.description import HostDescription
from tests.hosts.laid import LaidHost
from tests.hosts.netdev import LOOPBACK
from tests.hosts.tree import Tree


class SimHost(HostDescription):
    """A host that can be laid out.

    >>> host = SimHost()
    >>> pf = host.pf("0000:3b:00.0", netdevs=["ens1f0"])
    >>> vfs = host.vfs(pf, 4)
    >>> laid = host.lay(tmp_path)
    >>> laid.rebind("0000:3b:01.1", "vfio-pci")
    """

    def lay(self, root: Path) -> LaidHost:
        """Write the tree; the description is then that of the host below *root* and follows it."""
        tree = Tree(root)
        LOOPBACK.lay_virtual(tree)
        for function in (*self.bridges(), *self.functions.values()):
            function.lay(tree)
        laid = LaidHost(self, tree)
        for upper in self.uppers:
            upper.lay(tree, laid.interfaces())
        for node in self.nodes:
            tree.node(node)
        laid.uses.write_routes()
        return laid

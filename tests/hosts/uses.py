"""What a laid out host itself does with its interfaces."""

from collections.abc import Iterable

from tests.hosts.description import HostDescription
from tests.hosts.routes import table4, table6
from tests.hosts.tree import Tree


class HostUses:
    """Routes, and the places of interfaces in bonds, bridges and the like."""

    def __init__(self, description: HostDescription, tree: Tree) -> None:
        self._description = description
        self._tree = tree

    def add_default_route(self, interface: str, gateway: str, metric: int = 0) -> None:
        self._description.default_route(interface, gateway, metric)
        self.write_routes()

    def drop_routes(self, *interfaces: str) -> None:
        kept = [r for r in self._description.routes if r.interface not in interfaces]
        self._description.routes[:] = kept
        self.write_routes()

    def write_routes(self) -> None:
        self._tree.text("proc/net/route", table4(self._description.routes))
        self._tree.text("proc/net/ipv6_route", table6(self._description.routes))

    def let_go(self, interfaces: Iterable[str]) -> None:
        """Interfaces have left the host: so have their routes and their places."""
        gone = set(interfaces)
        for upper in self._description.uppers:
            for lower in gone.intersection(upper.lowers):
                upper.release(self._tree, lower)
        if any(r.interface in gone for r in self._description.routes):
            self.drop_routes(*gone)

"""Port HostReader over a Host that a test changes."""

from collections.abc import Collection
from dataclasses import replace

from domain.host import Host
from domain.pci import PciAddress


class FakeHostReader:
    """Holds the host as it is now; counts how often it was read."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.reads = 0

    def read(self) -> Host:
        self.reads += 1
        return self.host

    def reread(self, host: Host, addresses: Collection[PciAddress]) -> Host:
        functions = {a: f for a, f in host.functions.items() if a not in addresses}
        functions.update({a: self.host.functions[a] for a in addresses if a in self.host.functions})
        gone = {str(a): "vanished while it was read" for a in addresses if a not in self.host.functions}
        return replace(host, functions=functions, unreadable={**host.unreadable, **gone}, nodes=self.host.nodes)

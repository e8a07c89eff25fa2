"""Port HostReader over a Host that a test changes."""

from collections.abc import Collection
from dataclasses import replace

from domain.host import Host


class FakeHostReader:
    """Holds the host as it is now; counts how often it was read."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.reads = 0

    def read(self) -> Host:
        self.reads += 1
        return self.host

    def reread(self, host: Host, ids: Collection[str]) -> Host:
        functions = {a: f for a, f in host.functions.items() if str(a) not in ids}
        functions.update({a: f for a, f in self.host.functions.items() if str(a) in ids})
        auxiliary = {n: d for n, d in host.auxiliary.items() if n not in ids}
        auxiliary.update({n: d for n, d in self.host.auxiliary.items() if n in ids})
        present = {str(a) for a in functions} | auxiliary.keys()
        gone = {id_: "gone from the host" for id_ in ids if id_ not in present}
        return replace(
            host,
            functions=functions,
            auxiliary=auxiliary,
            unreadable={**host.unreadable, **gone},
            nodes=self.host.nodes,
        )

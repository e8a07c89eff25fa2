"""Pools that a configuration of the model is made of, each with its own word on what it takes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.hosts.function import Function

PREFIX: Final = "intel.com"
#: Names of pools; the last one has a prefix of its own.
NAMES: Final = ("intel.com/a", "intel.com/b", "intel.com/c", "example.com/d")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a pool selects, as JSON, and the same in Python."""

    name: str
    selectors: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    takes: Callable[[Function], bool]
    minds_link: bool = False
    tells_topology: bool = True

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Pool:
    """One entry of the configuration."""

    resource: str
    kind: Kind

    def entry(self) -> dict[str, Any]:
        prefix, _, name = self.resource.partition("/")
        entry: dict[str, Any] = {"resourceName": name, "selectors": self.kind.selectors}
        if prefix != PREFIX:
            entry["resourcePrefix"] = prefix
        if self.kind.minds_link:
            entry |= {"health": "link", "holdDown": 0.2, "holdUp": 0.3}
        if not self.kind.tells_topology:
            entry["excludeTopology"] = True
        return entry

    def __repr__(self) -> str:
        return f"{self.resource}={self.kind}"


Pools = tuple[Pool, ...]


def _of_pf(function: Function, name: str, first: int = 0, last: int = 255) -> bool:
    pf = function.physfn
    return pf is not None and [n.name for n in pf.netdevs] == [name] and first <= function.index <= last


def _below(function: Function, bdf: str) -> bool:
    return bdf in {function.bdf if function.physfn is None else "", function.physfn.bdf if function.physfn else ""}


KINDS: Final = (
    Kind("kernel", {"drivers": ["iavf"]}, lambda f: f.driver == "iavf"),
    Kind("user", {"drivers": ["vfio-pci"]}, lambda f: f.driver == "vfio-pci"),
    Kind("first", {"pfNames": ["p0#0-1"]}, lambda f: _of_pf(f, "p0", 0, 1), tells_topology=False),
    Kind("linked", {"pfNames": ["p0"]}, lambda f: _of_pf(f, "p0"), minds_link=True),
    Kind("root", {"rootDevices": ["0000:3b:00.0"]}, lambda f: _below(f, "0000:3b:00.0")),
    Kind(
        "either",
        [{"drivers": ["vfio-pci"], "pfNames": ["p0"]}, {"drivers": ["iavf"], "pfNames": ["p1#0-3"]}],
        lambda f: (f.driver == "vfio-pci" and _of_pf(f, "p0")) or (f.driver == "iavf" and _of_pf(f, "p1", 0, 3)),
    ),
    Kind("all", {}, lambda f: True),
)

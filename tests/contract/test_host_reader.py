"""Port HostReader: the fake and the reader of sysfs alike."""

from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from adapters.sysfs.host_reader import SysfsHostReader
from application.ports.host_reader import HostReader
from domain.host import Host, NetInterface, PciFunction
from domain.pci import PciAddress
from tests.fakes.host_reader import FakeHostReader
from tests.hosts.named import h2
from tests.unit.domain.facts import at, host, pf, vf

VF = at("0000:3b:01.1")
OTHER = at("0000:3b:01.2")


class World(Protocol):
    """A host H2 that changes."""

    @property
    def reader(self) -> HostReader: ...
    def rebind(self, address: PciAddress, driver: str) -> None: ...
    def remove(self, address: PciAddress) -> None: ...
    def remove_node(self, path: str) -> None: ...


class InMemory:
    def __init__(self) -> None:
        nodes = frozenset({"/dev/vfio/vfio", *(f"/dev/vfio/{101 + i}" for i in range(4))})
        named = pf(interfaces=[NetInterface("ens1f0", 1, dev_port=0)], numa_node=0)
        vfs = (vf(i, driver="vfio-pci", iommu_group=str(101 + i), numa_node=0) for i in range(4))
        self.reader = FakeHostReader(host(named, *vfs, nodes=nodes))

    def rebind(self, address: PciAddress, driver: str) -> None:
        self._put(replace(self.reader.host.functions[address], driver=driver))

    def remove(self, address: PciAddress) -> None:
        functions = {a: f for a, f in self.reader.host.functions.items() if a != address}
        self.reader.host = replace(self.reader.host, functions=functions)

    def remove_node(self, path: str) -> None:
        self.reader.host = replace(self.reader.host, nodes=self.reader.host.nodes - {path})

    def _put(self, function: PciFunction) -> None:
        functions = {**self.reader.host.functions, function.address: function}
        self.reader.host = replace(self.reader.host, functions=functions)


class OnDisk:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._laid = h2().lay(root)
        self.reader = SysfsHostReader(root)

    def rebind(self, address: PciAddress, driver: str) -> None:
        self._laid.rebind(str(address), driver)

    def remove(self, address: PciAddress) -> None:
        self._laid.remove_function(str(address))

    def remove_node(self, path: str) -> None:
        (self._root / path.lstrip("/")).unlink()


@pytest.fixture(params=["memory", "sysfs"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    return InMemory() if request.param == "memory" else OnDisk(tmp_path)


def drivers(seen: Host) -> dict[str, str | None]:
    return {str(a): f.driver for a, f in seen.functions.items() if f.physfn}


def test_a_read_has_every_function_with_its_facts(world: World) -> None:
    seen = world.reader.read()

    found = seen.functions[VF]
    assert drivers(seen) == {f"0000:3b:01.{i}": "vfio-pci" for i in range(4)}
    assert (found.vendor, found.device, found.class_code) == ("8086", "1889", 0x020000)
    assert (found.physfn, found.vf_index, found.iommu_group, found.numa_node) == (at("0000:3b:00.0"), 1, "102", 0)
    assert seen.functions[at("0000:3b:00.0")].vf_count == 4
    assert [i.name for i in seen.functions[at("0000:3b:00.0")].interfaces] == ["ens1f0"]
    assert {"/dev/vfio/vfio", "/dev/vfio/102"} <= seen.nodes


def test_a_read_follows_the_host(world: World) -> None:
    world.reader.read()
    world.rebind(VF, "iavf")
    world.remove(OTHER)

    seen = world.reader.read()

    assert seen.functions[VF].driver == "iavf"
    assert OTHER not in seen.functions


def test_a_reread_is_fresh_for_what_was_asked_and_as_known_for_the_rest(world: World) -> None:
    known = world.reader.read()
    world.rebind(VF, "iavf")
    world.rebind(OTHER, "iavf")

    seen = world.reader.reread(known, [str(VF)])

    assert seen.functions[VF].driver == "iavf"
    assert seen.functions[VF].vf_index == 1
    assert seen.functions[OTHER].driver == "vfio-pci"
    assert known.functions[VF].driver == "vfio-pci"


def test_a_function_that_has_gone_is_missing_in_a_reread_with_the_reason(world: World) -> None:
    known = world.reader.read()
    world.remove(VF)

    seen = world.reader.reread(known, [str(VF)])

    assert VF not in seen.functions
    assert "gone" in seen.unreadable[str(VF)]
    assert OTHER in seen.functions


def test_a_node_that_has_gone_is_missing_in_a_reread(world: World) -> None:
    known = world.reader.read()
    world.remove_node("/dev/vfio/102")

    assert "/dev/vfio/102" not in world.reader.reread(known, [str(VF)]).nodes
    assert "/dev/vfio/vfio" in world.reader.reread(known, [str(VF)]).nodes

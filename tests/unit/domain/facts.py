"""Short ways to state facts about hosts."""

from typing import Any

from domain.host import Host, NetInterface, PciFunction
from domain.pci import PciAddress
from domain.pool import DeviceSelector, PoolSpec
from domain.resource_name import ResourceName
from domain.selector import Selector
from domain.selectors import PciClasses


def at(text: str) -> PciAddress:
    return PciAddress.parse(text)


def function(address: str, **facts: Any) -> PciFunction:
    """An Intel network function on iavf, unless the facts say otherwise."""
    stated: dict[str, Any] = {"class_code": 0x020000, "vendor": "8086", "device": "1889", "driver": "iavf", **facts}
    if isinstance(stated.get("physfn"), str):
        stated["physfn"] = at(stated["physfn"])
    stated["interfaces"] = tuple(NetInterface(i, 1) if isinstance(i, str) else i for i in stated.get("interfaces", ()))
    return PciFunction(address=at(address), **stated)


def host(*functions: PciFunction, **facts: Any) -> Host:
    return Host(functions={f.address: f for f in functions}, **facts)


def pf(address: str = "0000:3b:00.0", name: str = "ens1f0", vfs: int = 4, **facts: Any) -> PciFunction:
    return function(address, **{"device": "1592", "driver": "ice", "interfaces": [name], "vf_count": vfs, **facts})


def vf(index: int, address: str | None = None, pf: str = "0000:3b:00.0", **facts: Any) -> PciFunction:
    return function(address or f"0000:3b:01.{index}", physfn=pf, vf_index=index, **facts)


def h1(**of_vfs: Any) -> Host:
    """One PF with four VFs."""
    return host(pf(), *(vf(i, **of_vfs) for i in range(4)))


def pool(name: str, *selectors: Selector, **policies: Any) -> PoolSpec:
    """A pool of network devices with one selector object."""
    return PoolSpec(ResourceName("intel.com", name), (DeviceSelector((PciClasses(("02",)), *selectors)),), **policies)

"""Which of a PF's interfaces is its uplink, and which represents a VF or subfunction.

In switchdev mode the representors of VFs and SFs appear beside the uplink, in any order. Their phys_port_name tells
them apart (Documentation/networking/switchdev.rst: ``pN`` for a physical port, ``cXpfNvfM`` and ``cXpfNsfM`` for the
others). X is the controller: on a SmartNIC those of the server it sits in have one too, and any but 0 is not this
host's (Documentation/networking/devlink/devlink-port.rst).
"""

import re
from collections.abc import Iterable
from typing import Final, Literal

from domain.host import Host, NetInterface, PciFunction

_PHYSICAL_PORT: Final = re.compile(r"p(\d+)(?:s\d+)?")
_REPRESENTOR: Final = re.compile(r"(?:c(\d+))?pf(\d+)(?:(vf|sf)(\d+))?")


def uplink(pf: PciFunction) -> NetInterface | None:
    """The interface that gives the PF its name, or None where there is none or no telling."""
    ports = [port for port in pf.interfaces if not _REPRESENTOR.fullmatch(port.port_name or "")]
    physical = [port for port in ports if _PHYSICAL_PORT.fullmatch(port.port_name or "")]
    candidates = physical or ports
    if len(candidates) > 1:
        # Without port names the uplink is the function's first port, if just one interface says it is.
        candidates = [port for port in candidates if port.dev_port == 0]
    return candidates[0] if len(candidates) == 1 else None


def representor(host: Host, pf: PciFunction, kind: Literal["vf", "sf"], index: int) -> NetInterface | None:
    """The interface that stands for a VF or SF on the PF's embedded switch, if the PF is in switchdev mode."""
    port = uplink(pf)
    number = _PHYSICAL_PORT.fullmatch(port.port_name or "") if port else None
    for candidate in _ports(host, pf, port.switch_id if port else None):
        match = _REPRESENTOR.fullmatch(candidate.port_name or "")
        if match is None or int(match[1] or 0) != 0 or match[3] != kind or int(match[4]) != index:
            continue
        if number is None or match[2] == number[1]:
            return candidate
    return None


def _ports(host: Host, pf: PciFunction, switch_id: str | None) -> Iterable[NetInterface]:
    yield from pf.interfaces
    if switch_id:
        yield from (port for port in host.port_interfaces if port.switch_id == switch_id)

"""Whether a device that is there can be used, by the pool's policy."""

from dataclasses import dataclass
from enum import Enum

from domain.device import Device


class HealthPolicy(Enum):
    """What makes a device of a pool Unhealthy, by the value in the configuration file."""

    OFF = "off"
    """Nothing but its absence."""
    DEVICE = "device"
    """A device node or facility that is missing, too."""
    LINK = "link"
    """And the PF's link being down, too; of a device without a visible PF its own."""


@dataclass(frozen=True, slots=True)
class Health:
    """A pool's policy, and how long a link must be down or up before it counts; seconds."""

    policy: HealthPolicy = HealthPolicy.DEVICE
    hold_down: float = 2.0
    hold_up: float = 5.0


def link_fault(device: Device) -> str | None:
    """Why the link of a device's PF cannot be used; None if it can, or if nobody can tell.

    The VF's own interface says nothing: it stays up when its PF's cable is pulled, and is down while no pod has it. An
    interface in a pod, or one that a userspace driver has taken, is not there to be asked.

    A whole port and a guest's VF have no other interface than their own. It may be down just because no pod has it:
    only a carrier that is missing tells of the link.
    """
    port = device.pf_port
    if port is None:
        return None
    if port.carrier is False:
        return f"no carrier on {port.name}"
    is_own = device.pf is device.function and device.subfunction is None
    if not is_own and port.operstate in {"down", "lowerlayerdown"}:
        return f"{port.name} is {port.operstate}"
    return None

"""What the Go plugin takes on the same hosts on a machine of two cores, and what is asked of this one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Reference:
    """Both in the unit of the figure."""

    go: str = ""
    target: float | None = None


REFERENCES: Final[Mapping[tuple[str, str], Reference]] = {
    ("start", "16 VFs, 1 pool"): Reference("0.05", 0.35),
    ("start", "256 VFs, 1 pool"): Reference("0.43", 0.4),
    ("start", "1024 VFs, 1 pool"): Reference("2.5", 0.6),
    ("start", "1024 VFs, 8 pools"): Reference("20", 0.6),
    ("start", "1024 VFs, 32 pools"): Reference("82", 0.8),
    ("start", "4096 VFs, 1 pool"): Reference("17-18", 1.0),
    ("allocate", "1 device, p50"): Reference("0.6", 0.6),
    ("allocate", "16 devices, p50"): Reference("4-11", 1.0),
    ("allocate", "64 devices, p50"): Reference("16", 2.0),
    ("everything", "that in times the plain host's"): Reference("", 1.5),
    ("everything", "memory a device"): Reference("", 2.5),
    ("everything", "Allocate of 16 RDMA devices, p50"): Reference("", 2.0),
    ("memory", "16 VFs, VmRSS"): Reference("40", 60),
    ("memory", "4096 VFs, VmRSS"): Reference("52", 75),
    ("idle", "CPU in a minute"): Reference("0", 0.05),  # none: a thousandth of one CPU is noise
}

"""Routing ids: the number of a function on its bus and the buses after it."""


def bdf_at(bdf: str, distance: int) -> str:
    """The PCI address *distance* routing ids after *bdf*."""
    domain, bus, slot = bdf.split(":")
    device, function = slot.split(".")
    rid = (int(bus, 16) << 8 | int(device, 16) << 3 | int(function)) + distance
    return f"{domain}:{rid >> 8:02x}:{rid >> 3 & 31:02x}.{rid & 7}"

"""RDMA devices of a function or subfunction, from its own directory."""

from collections.abc import Iterator, Sequence

from adapters.sysfs.tree import Tree
from domain.host import RdmaDevice


def rdma_devices(tree: Tree, directory: str, names: Sequence[str]) -> tuple[RdmaDevice, ...]:
    """The RDMA devices below a directory with these names in it, with the nodes that belong to each."""
    if "infiniband" not in names:
        return ()
    devices = sorted(tree.names(f"{directory}/infiniband"))
    verbs = list(_nodes(tree, f"{directory}/infiniband_verbs", devices)) if "infiniband_verbs" in names else []
    mad = list(_nodes(tree, f"{directory}/infiniband_mad", devices)) if "infiniband_mad" in names else []
    return tuple(
        RdmaDevice(
            device,
            uverbs=tuple(name for name, owner in verbs if owner == device),
            umad=tuple(name for name, owner in mad if owner == device and name.startswith("umad")),
            issm=tuple(name for name, owner in mad if owner == device and name.startswith("issm")),
            default_pkey=tree.text(f"{directory}/infiniband/{device}/ports/1/pkeys/0"),
        )
        for device in devices
    )


def _nodes(tree: Tree, directory: str, devices: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Character devices and the RDMA device that each is of."""
    for name in sorted(tree.names(directory)):
        yield name, devices[0] if len(devices) == 1 else tree.text(f"{directory}/{name}/ibdev")

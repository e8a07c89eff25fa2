"""What a container needs to use a device, by what the guest's kernel says now and without the product's code."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.guest import kernel, netlink, vfio

_CLASS = Path("/sys/class")


@dataclass(frozen=True)
class Facility:
    """One way to use a device."""

    provider: str
    """Its name in the …_INFO variable, and what that says."""
    info: dict[str, str]
    nodes: tuple[tuple[str, str], ...] = ()
    """Paths on the host and in the container."""


def of(address: str, uses: Collection[str] = ()) -> list[Facility]:
    """Those of a device; *uses* are the ones that its pool asks for: rdma, vdpa, vhost."""
    found = [Facility("generic", {"deviceID": address})]
    match kernel.function(address).driver:
        case "vfio-pci":
            found.append(_vfio(address))
        case "uio_pci_generic":
            found.append(_uio(address))
    if "rdma" in uses:
        found.append(_rdma(netlink.rdma_device(address)))
    if "vdpa" in uses:
        found.append(_vdpa(netlink.vdpa_device(address)))
    if "vhost" in uses:
        paths = {"net-mount": "/dev/vhost-net", "tun-mount": "/dev/net/tun"}
        found.append(Facility("vhost", paths, _same(*paths.values())))
    return found


def nodes(address: str, uses: Collection[str] = ()) -> set[tuple[str, str]]:
    return {node for facility in of(address, uses) for node in facility.nodes}


def _vfio(address: str) -> Facility:
    number = kernel.function(address).iommu_group
    (name,) = (entry.name for entry in (_CLASS / "vfio").iterdir() if entry.name in {number, f"noiommu-{number}"})
    group = f"/dev/vfio/{number}"
    info = {"mount": vfio.CONTAINER, "dev-mount": group}
    return Facility("vfio", info, (*_same(vfio.CONTAINER), (f"/dev/vfio/{name}", group)))


def _uio(address: str) -> Facility:
    (entry,) = (entry for entry in (_CLASS / "uio").iterdir() if address in entry.resolve().parts)
    return Facility("uio", {"mount": f"/dev/{entry.name}"}, _same(f"/dev/{entry.name}"))


def _rdma(device: str) -> Facility:
    paths = {
        "uverbs": _nodes_of(device, "infiniband_verbs", "uverbs"),
        "umad": _nodes_of(device, "infiniband_mad", "umad"),
        "issm": _nodes_of(device, "infiniband_mad", "issm"),
        "rdma_cm": ["/dev/infiniband/rdma_cm"],
    }
    info = {kind: ",".join(found) for kind, found in paths.items() if found}
    return Facility("rdma", {**info, "rdma_dev": device}, _same(*(path for found in paths.values() for path in found)))


def _nodes_of(device: str, class_name: str, start: str) -> list[str]:
    entries = sorted((_CLASS / class_name).glob(f"{start}*"))
    return [f"/dev/infiniband/{e.name}" for e in entries if (e / "ibdev").read_text().strip() == device]


def _vdpa(device: str) -> Facility:
    if kernel.vdpa_driver(device) != "vhost_vdpa":
        return Facility("vdpa", {})
    path = vhost_vdpa_node(device)
    return Facility("vdpa", {"mount": path}, _same(path))


def vhost_vdpa_node(device: str) -> str:
    (entry,) = (kernel.VDPA / device).glob("vhost-vdpa-*")
    return f"/dev/{entry.name}"


def _same(*paths: str) -> tuple[tuple[str, str], ...]:
    return tuple((path, path) for path in paths)

"""What goes wrong on the hosts of the examples, and what is said of it."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from domain.errors import NotServable
from domain.resource_name import ResourceName
from tests.unit.documentation.node import Node

_FUNCTIONS: Final = "sys/bus/pci/devices"


#: What goes wrong on the hosts of a document: shell commands in the root of each.
DAMAGE: Final[dict[str, dict[str, list[str]]]] = {
    "docs/debugging.md": {
        "host": [f"sed -i s/iavf/vfio-pci/ {_FUNCTIONS}/0000:3b:01.0/uevent", f"rm {_FUNCTIONS}/0000:3b:01.1"],
    },
    "docs/guides/accelerators.md": {"host": ["rm dev/vfio/61"]},
    "docs/guides/dpdk.md": {
        "vfio": [
            "rm dev/vfio/101",
            "rm dev/net/tun",
            f"rm {_FUNCTIONS}/0000:3b:01.0/iommu_group",
            f"sed -i s/vfio-pci/iavf/ {_FUNCTIONS}/0000:3b:01.0/uevent",
            "rm sys/class/net/ens1f0; rm -r sys/devices/*/*/0000:3b:00.0/net",
        ],
        "uio": [f"rm -r {_FUNCTIONS}/0000:3b:01.0/uio/uio3"],
        "iommufd": ["rm dev/iommu", f"rm -r {_FUNCTIONS}/0000:3b:01.2/vfio-dev"],
    },
    "docs/guides/rdma.md": {
        "shared": [
            f"rm -r {_FUNCTIONS}/0000:5e:00.3/infiniband_verbs",
            f"rm -r {_FUNCTIONS}/0000:5e:00.3/infiniband* {_FUNCTIONS}/0000:5e:00.3/mlx5_core.rdma.5",
            "rm dev/infiniband/uverbs5",
        ],
        "infiniband": [f"echo 1 > {_FUNCTIONS}/0000:d8:00.0/net/ibs5/type"],
    },
    "docs/guides/subfunctions.md": {
        "host": [
            f"rm -r {_FUNCTIONS}/0000:03:00.0/mlx5_core.sf.4",
            f"rm {_FUNCTIONS}/0000:03:00.0/mlx5_core.sf.5/driver",
            f"rm -r {_FUNCTIONS}/0000:03:00.0/mlx5_core.sf.5/infiniband",
        ],
    },
    "docs/guides/vdpa.md": {
        "host": [
            f"rm -r sys/bus/vdpa/devices/vdpa0 {_FUNCTIONS}/0000:65:00.2/vdpa0",
            f"rm -r {_FUNCTIONS}/0000:65:00.2/vdpa0/vhost-vdpa-0",
        ],
    },
    "docs/guides/virtual-machines.md": {
        "host": [
            "rm dev/vfio/101",
            f"rm {_FUNCTIONS}/0000:3b:01.0/iommu_group",
            f"sed -i s/vfio-pci/iavf/ {_FUNCTIONS}/0000:3b:01.0/uevent",
        ],
    },
}


def messages(document: str, root: str, hosts: Path, place: Path) -> Iterator[str]:
    """Everything that is said of a host as it is and after each damage: at Allocate, and by a fresh start."""
    for number, damage in enumerate(["true", *DAMAGE.get(document, {}).get(root, [])]):
        host = f"{root}-{number}"
        shutil.copytree(hosts / root, place / host, symlinks=True)
        before = Node.of(place, host)
        before.reconcile()
        subprocess.run(["bash", "-ec", damage], check=True, cwd=place / host)
        for name, id_, fault in before.lists():
            if fault is None:
                with suppress(NotServable):
                    before.allocate(ResourceName.parse(name), [id_])
        yield from (facts["reason"] for facts in before.journal.told("allocation refused"))
        after = Node.of(place, host)
        after.reconcile()
        yield from (fault for _, _, fault in after.lists() if fault)
        yield from after.refusals()

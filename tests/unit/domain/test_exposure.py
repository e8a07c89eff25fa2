import json

import pytest

from domain.device import pci_device
from domain.errors import FacilityMissing
from domain.exposure import DeviceNode, grant
from domain.host import Host
from domain.pool import Member
from tests.unit.domain.facts import at, host, pf, pool, vf

DPDK = pool("dpdk")
NODES = frozenset({"/dev/vfio/vfio", "/dev/vfio/101", "/dev/vfio/102"})


def vfio(*groups: str | None, nodes: frozenset[str] = NODES) -> Host:
    vfs = (vf(i, driver="vfio-pci", iommu_group=group) for i, group in enumerate(groups))
    return host(pf(), *vfs, nodes=nodes)


def members(seen: Host, *indices: int) -> list[Member]:
    return [Member(pci_device(seen, at(f"0000:3b:01.{i}"), {}), DPDK.selectors[0]) for i in indices]


def test_a_kernel_vf_is_told_by_its_id_alone() -> None:
    seen = host(pf(), vf(0))

    granted = grant(members(seen, 0), pool("kern"), seen)

    assert granted.nodes == ()
    assert granted.environment["PCIDEVICE_INTEL_COM_KERN"] == "0000:3b:01.0"
    assert json.loads(granted.environment["PCIDEVICE_INTEL_COM_KERN_INFO"]) == {
        "0000:3b:01.0": {"generic": {"deviceID": "0000:3b:01.0"}}
    }


def test_vfio_devices_share_the_container_node_and_have_a_group_node_each() -> None:
    """Case E04: once the shared node, ids sorted whatever the order of the request (H07)."""
    seen = vfio("101", "102")

    granted = grant(members(seen, 1, 0), DPDK, seen)

    assert [(n.host, n.container, n.access) for n in granted.nodes] == [
        (path, path, "rw") for path in ("/dev/vfio/vfio", "/dev/vfio/101", "/dev/vfio/102")
    ]
    assert granted.environment["PCIDEVICE_INTEL_COM_DPDK"] == "0000:3b:01.0,0000:3b:01.1"
    info = json.loads(granted.environment["PCIDEVICE_INTEL_COM_DPDK_INFO"])
    assert info["0000:3b:01.1"]["vfio"] == {"mount": "/dev/vfio/vfio", "dev-mount": "/dev/vfio/102"}


def test_two_devices_of_one_group_get_its_node_once() -> None:
    seen = vfio("101", "101")

    granted = grant(members(seen, 0, 1), DPDK, seen)

    assert granted.nodes.count(DeviceNode("/dev/vfio/101", "/dev/vfio/101")) == 1


@pytest.mark.parametrize(
    ("seen", "missing"),
    [
        (vfio(None), "iommu_group"),
        (vfio("300"), "/dev/vfio/300"),
        (vfio("101", nodes=frozenset({"/dev/vfio/101"})), "/dev/vfio/vfio"),
    ],
)
def test_a_grant_that_would_not_be_whole_fails_with_device_and_what_is_missing(seen: Host, missing: str) -> None:
    """Case E03 (a), (b)."""
    with pytest.raises(FacilityMissing, match=missing) as caught:
        grant(members(seen, 0), DPDK, seen)

    assert "0000:3b:01.0" in str(caught.value)
    assert "vfio" in str(caught.value)

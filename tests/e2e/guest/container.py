"""Compares what a container would get with what the kernel has."""

import json

from tests.e2e.guest import kernel, vfio
from tests.fakes.kubelet import ContainerStart

CONTAINER_NODE = "/dev/vfio/vfio"


def check(started: ContainerStart, resource: str) -> list[str]:
    """Assert that variables and nodes are right for the ids given; return the ids."""
    assert not started.error
    variable = "PCIDEVICE_" + resource.replace(".", "_").replace("/", "_").upper()
    assert set(started.env) == {variable, f"{variable}_INFO"}
    ids = started.env[variable].split(",")
    assert ids == sorted(ids)
    assert json.loads(started.env[f"{variable}_INFO"]) == {name: _info(name) for name in ids}

    given = {(node["host"], node["container"], node["permissions"]) for node in started.devices}
    nodes = {node for name in ids for node in _nodes(name)}
    assert given == {(node, node, "rw") for node in nodes}
    assert len(started.devices) == len(given)
    assert not started.mounts
    assert not started.cdi
    for name in ids:
        _check_usable(name)
    return ids


def _group_node(address: str) -> str | None:
    """The node of the VFIO group, if vfio-pci has the function."""
    function = kernel.function(address)
    return f"/dev/vfio/{function.iommu_group}" if function.driver == "vfio-pci" else None


def _info(address: str) -> dict[str, dict[str, str]]:
    info = {"generic": {"deviceID": address}}
    if group := _group_node(address):
        info["vfio"] = {"mount": CONTAINER_NODE, "dev-mount": group}
    return info


def _nodes(address: str) -> set[str]:
    group = _group_node(address)
    return {CONTAINER_NODE, group} if group else set()


def _check_usable(address: str) -> None:
    group = _group_node(address)
    if group:
        number = group.rpartition("/")[2]
        assert kernel.device_number(group) == kernel.vfio_group_number(number)
        assert kernel.device_number(CONTAINER_NODE) == (10, 196)  # the kernel's devices.txt
        vfio.open_device(CONTAINER_NODE, group, address)

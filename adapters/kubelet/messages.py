"""Between the domain and the kubelet's messages."""

from collections.abc import Sequence
from typing import Final

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from domain.announcement import Announced
from domain.exposure import Grant

API_VERSION: Final = "v1beta1"
"""The only version any kubelet takes (pkg/apis/deviceplugin/v1beta1/constants.go)."""


def device_list(entries: Sequence[Announced]) -> pb.ListAndWatchResponse:
    """A pool's list; a device without a known NUMA node gets no topology at all, not an empty one."""
    return pb.ListAndWatchResponse(devices=map(_device, entries))


def container_response(granted: Grant) -> pb.ContainerAllocateResponse:
    """What one container gets."""
    return pb.ContainerAllocateResponse(
        envs=granted.environment,
        devices=[
            pb.DeviceSpec(host_path=node.host, container_path=node.container, permissions=node.access)
            for node in granted.nodes
        ],
        cdi_devices=[pb.CDIDevice(name=name) for name in granted.cdi_devices],
    )


def _device(entry: Announced) -> pb.Device:
    topology = None if entry.numa_node is None else pb.TopologyInfo(nodes=[pb.NUMANode(ID=entry.numa_node)])
    return pb.Device(ID=entry.id, health="Unhealthy" if entry.fault else "Healthy", topology=topology)

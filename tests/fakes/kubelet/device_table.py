"""The devices of each resource as the last message left them: dm/manager.go genericDeviceUpdateCallback."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as dp


@dataclass(eq=False, slots=True)
class DeviceTable:
    healthy: dict[str, set[str]] = field(default_factory=dict)
    unhealthy: dict[str, set[str]] = field(default_factory=dict)
    listed: dict[str, dict[str, dp.Device]] = field(default_factory=dict)

    def replace(self, resource: str, devices: Iterable[dp.Device]) -> list[str]:
        """Take over a message; name the devices that are new or whose health changed.

        An id listed twice with different health ends up in both sets.
        """
        before = self.listed.get(resource, {})
        healthy, unhealthy = set[str](), set[str]()
        listed: dict[str, dp.Device] = {}
        changed = []
        for device in devices:
            if device.ID not in before or before[device.ID].health != device.health:
                changed.append(device.ID)
            listed[device.ID] = device
            (healthy if device.health == "Healthy" else unhealthy).add(device.ID)
        self.healthy[resource], self.unhealthy[resource] = healthy, unhealthy
        self.listed[resource] = listed
        return changed

    def mark_unhealthy(self, resource: str) -> None:
        lost = self.healthy.get(resource, set())
        if resource in self.healthy:
            self.healthy[resource] = set()
        self.unhealthy[resource] = self.unhealthy.get(resource, set()) | lost

    def start_empty(self, resource: str) -> None:
        """The resource is known from the checkpoint, its devices are not."""
        self.healthy[resource], self.unhealthy[resource] = set(), set()

    def forget(self, resource: str) -> None:
        self.healthy.pop(resource, None)
        self.unhealthy.pop(resource, None)

    def nodes(self, resource: str, device: str) -> list[int]:
        """NUMA nodes as announced, none without a topology. KeyError if it is not listed."""
        return [node.ID for node in self.listed[resource][device].topology.nodes]

    def has_topology(self, resource: str) -> bool:
        return any(device.topology.nodes for device in self.listed.get(resource, {}).values())

"""Who holds which devices, with the answer that came for them: dm/pod_devices.go."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as dp

# Kubelet's own sign for "no topology"; a plugin that announces it is taken at its word.
NO_NODE = -1


@dataclass(frozen=True, slots=True)
class Holding:
    per_node: dict[int, list[str]]
    answer: dp.ContainerAllocateResponse

    @property
    def devices(self) -> set[str]:
        return {device for devices in self.per_node.values() for device in devices}

    def nodes(self, device: str) -> list[int]:
        return [node for node, devices in self.per_node.items() if device in devices and node != NO_NODE]


@dataclass(frozen=True, slots=True)
class Entry:
    pod: str
    container: str
    resource: str
    holding: Holding


@dataclass(eq=False, slots=True)
class Holdings:
    _entries: dict[tuple[str, str, str], Holding] = field(default_factory=dict)

    def put(self, pod: str, container: str, resource: str, holding: Holding) -> None:
        self._entries[pod, container, resource] = holding

    def get(self, pod: str, container: str, resource: str) -> Holding | None:
        return self._entries.get((pod, container, resource))

    def of_container(self, pod: str, container: str) -> dict[str, Holding]:
        return {e.resource: e.holding for e in self if (e.pod, e.container) == (pod, container)}

    def has_pod(self, pod: str) -> bool:
        return any(entry.pod == pod for entry in self)

    def keep_only(self, pods: Iterable[str]) -> bool:
        """Drop the entries of other pods; true if there were any."""
        keep = set(pods)
        gone = [key for key in self._entries if key[0] not in keep]
        for key in gone:
            del self._entries[key]
        return bool(gone)

    def in_use(self) -> dict[str, set[str]]:
        used: dict[str, set[str]] = {}
        for entry in self:
            used.setdefault(entry.resource, set()).update(entry.holding.devices)
        return used

    def holders(self, device: str, resource: str | None) -> list[str]:
        """Pods with that device, of that resource or of any."""
        return [entry.pod for entry in self if resource in {None, entry.resource} and device in entry.holding.devices]

    def __iter__(self) -> Iterator[Entry]:
        for (pod, container, resource), holding in self._entries.items():
            yield Entry(pod, container, resource, holding)

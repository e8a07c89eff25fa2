"""Pods as far as devices matter, and the table of those the kubelet was told of."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Container:
    name: str
    requests: Mapping[str, int] = field(default_factory=dict)
    sidecar: bool = False  # an init container that is restarted: it stays

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The short form of the harness: name, requests, sidecar."""
        return cls(value["name"], value.get("requests") or {}, bool(value.get("sidecar")))

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Self:
        limits = (spec.get("resources") or {}).get("limits") or {}
        devices = {name: int(n) for name, n in limits.items() if "/" in name}
        return cls(spec["name"], devices, spec.get("restartPolicy") == "Always")


@dataclass(frozen=True, slots=True)
class Pod:
    uid: str
    name: str
    namespace: str
    containers: tuple[Container, ...]
    init: tuple[Container, ...] = ()
    # (container, resource) pairs that DRA serves: status.extendedResourceClaimStatus.
    claimed: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, Any]) -> Self:
        meta, spec = manifest.get("metadata") or {}, manifest.get("spec") or {}
        claim = (manifest.get("status") or {}).get("extendedResourceClaimStatus") or {}
        return cls(
            meta["uid"],
            meta.get("name") or meta["uid"],
            meta.get("namespace") or "default",
            tuple(Container.from_spec(c) for c in spec.get("containers") or ()),
            tuple(Container.from_spec(c) for c in spec.get("initContainers") or ()),
            frozenset(
                (mapping["containerName"], mapping["resourceName"]) for mapping in claim.get("requestMappings") or ()
            ),
        )

    @property
    def in_order(self) -> tuple[Container, ...]:
        return self.init + self.containers

    def container(self, name: str) -> Container:
        for container in self.in_order:
            if container.name == name:
                return container
        raise LookupError(f'pod "{self.uid}" has no container "{name}"')

    def requests(self) -> Counter[str]:
        """What the scheduler counts: the greatest need at any time of the pod's life."""
        staying, most = Counter[str](), Counter[str]()
        for container in self.init:
            need = Counter(container.requests)
            if container.sidecar:
                staying += need
                most |= staying
            else:
                most |= staying + need
        running = sum((Counter(c.requests) for c in self.containers), staying)
        return running | most


@dataclass(slots=True)
class PodEntry:
    pod: Pod
    rejected: bool = False
    done: bool = False
    running: dict[str, bool] = field(default_factory=dict)

    @property
    def active(self) -> bool:
        return not self.rejected and not self.done


@dataclass(slots=True)
class PodTable:
    """Outlives the kubelet: the API server has it."""

    _entries: dict[str, PodEntry] = field(default_factory=dict)

    def put(self, pod: Pod) -> PodEntry:
        entry = self._entries.setdefault(pod.uid, PodEntry(pod))
        entry.pod, entry.rejected, entry.done = pod, False, False
        return entry

    def find(self, uid: str) -> PodEntry:
        if uid not in self._entries:
            raise LookupError(f'no pod "{uid}"')
        return self._entries[uid]

    def active(self) -> list[Pod]:
        return [entry.pod for entry in self if entry.active]

    def active_uids(self) -> set[str]:
        return {pod.uid for pod in self.active()}

    def __iter__(self) -> Iterator[PodEntry]:
        return iter(self._entries.values())


def requests_of(pods: Iterable[Pod]) -> Counter[str]:
    return sum((pod.requests() for pod in pods), Counter[str]())

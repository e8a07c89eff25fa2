"""What the facade answers: the values of the real harness's JSON protocol (testbed/kubelet)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Counts:
    """GetCapacity of the device manager."""

    capacity: Mapping[str, int]
    allocatable: Mapping[str, int]
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeReport:
    """The extended resources of the Node object."""

    capacity: Mapping[str, int]
    allocatable: Mapping[str, int]

    @classmethod
    def from_json(cls, answer: Mapping[str, Any]) -> Self:
        return cls(answer["capacity"], answer["allocatable"])


@dataclass(frozen=True, slots=True)
class CapacityReport:
    device_manager: Counts
    node: NodeReport

    @classmethod
    def from_json(cls, answer: Mapping[str, Any]) -> Self:
        counts = answer["device_manager"]
        return cls(
            Counts(counts["capacity"], counts["allocatable"], tuple(counts["removed"])),
            NodeReport.from_json(answer["node"]),
        )


@dataclass(frozen=True, slots=True)
class ContainerStart:
    """What the runtime would get for a container, or why it cannot be made."""

    env: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mapping[str, Any], ...] = ()  # host, container, read_only
    devices: tuple[Mapping[str, str], ...] = ()  # host, container, permissions
    cdi: tuple[str, ...] = ()
    error: str = ""  # the message of a CreateContainerConfigError

    @classmethod
    def from_json(cls, answer: Mapping[str, Any]) -> Self:
        if "error" in answer:
            return cls(error=answer["error"])
        return cls(
            answer["env"],
            answer["annotations"],
            tuple(answer["mounts"]),
            tuple(answer["devices"]),
            tuple(answer["cdi"]),
        )

    def as_json(self) -> dict[str, Any]:
        if self.error:
            return {"error": self.error}
        return {key: value for key, value in asdict(self).items() if key != "error"}


@dataclass(frozen=True, slots=True)
class Admission:
    admitted: bool
    reason: str = ""
    message: str = ""
    containers: Mapping[str, ContainerStart] = field(default_factory=dict)

    @classmethod
    def from_json(cls, answer: Mapping[str, Any]) -> Self:
        containers = answer.get("containers", {})
        return cls(
            answer["admitted"],
            answer.get("reason", ""),
            answer.get("message", ""),
            {name: ContainerStart.from_json(start) for name, start in containers.items()},
        )

    def as_json(self) -> dict[str, Any]:
        """Empty fields are left out, as the harness does."""
        answer: dict[str, Any] = {"admitted": self.admitted}
        if self.reason:
            answer["reason"] = self.reason
        if self.message:
            answer["message"] = self.message
        if self.containers:
            answer["containers"] = {n: start.as_json() for n, start in self.containers.items()}
        return answer


@dataclass(frozen=True, slots=True)
class PodReport:
    uid: str
    name: str
    active: bool
    rejected: bool
    running: Mapping[str, bool]

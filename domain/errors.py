"""What can go wrong, as facts.

Every error of the project derives from ``SriovError``; a leaf takes the offending values and builds its own message:
what, where, what was expected, what to do. Only kinds that somebody tells apart get a class.
"""

from collections.abc import Sequence


class SriovError(Exception):
    """Root of all errors of this project."""


class InvalidPciAddress(ValueError, SriovError):
    """A text that is no PCI address."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text!r} is no PCI address: expected [domain:]bus:device.function in hex, as 0000:3b:01.0")


class InvalidResourceName(ValueError, SriovError):
    """A name the kubelet would refuse."""

    def __init__(self, text: str, rule: str) -> None:
        super().__init__(f"{text!r} is no resource name: {rule}")


class InvalidIndexRanges(ValueError, SriovError):
    """The part after ``#`` of a PF name or root device that lists no VF indices."""

    def __init__(self, text: str, why: str) -> None:
        super().__init__(f"{text!r}: {why}: expected VF indices as #0-3,7 or no # at all")


class NotServable(SriovError):
    """A device that cannot be handed out now. Allocate fails with it, and nothing is handed out."""


class UnknownDevice(NotServable):
    """An id that the pool does not hold."""

    def __init__(self, device_id: str, resource: object) -> None:
        super().__init__(f"{device_id} is not in pool {resource}")


class DeviceUnusable(NotServable):
    """A device of the pool that is announced as unhealthy, vanished, or is no longer what the pool selects."""

    def __init__(self, device_id: str, resource: object, why: str) -> None:
        super().__init__(f"{device_id} of pool {resource} cannot be used: {why}")


class FacilityMissing(NotServable):
    """Something a container needs to use the device, and the host does not have."""

    def __init__(self, device_id: str, facility: str, what: str) -> None:
        super().__init__(f"{device_id} cannot be used through {facility}: {what} is missing on the host")


class SeveralRefused(NotServable):
    """Several devices of one request that cannot be handed out, each with its reason."""

    def __init__(self, refusals: Sequence[NotServable]) -> None:
        super().__init__("; ".join(map(str, refusals)))


class HostUnresponsive(NotServable):
    """The host did not answer a read in time; the kubelet sets no deadline of its own (facts: kubelet endpoint.go)."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"{what} took longer than {seconds:g} s: the host does not answer reads of its sysfs")


class HostUnreadable(NotServable):
    """The host cannot be read, mostly for want of files or memory: nothing is known, least of all what is gone."""

    def __init__(self, path: object, why: str, remedy: str = "raise the limits of this process") -> None:
        super().__init__(f"{path}: {why}: the host cannot be read, {remedy}")


class FilesUnwritable(SriovError):
    """Files for the CNI side or for container runtimes cannot be kept."""

    def __init__(self, path: object, why: str, remedy: str) -> None:
        super().__init__(f"{path}: {why}: {remedy}")


class FacilityAway(FacilityMissing):
    """A facility that went to another namespace together with the device: a pod has it, and nothing is wrong."""


class FunctionRefused(NotServable):
    """A change of a PCI function that the kernel, or our own caution, refused."""

    def __init__(self, device_id: str, step: str, why: str) -> None:
        super().__init__(f"{device_id}: {step}: {why}")

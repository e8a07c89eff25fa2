"""The one state of the process: which pools there are, what is in them, and what the kubelet was told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from domain.announcement import Lists
from domain.errors import DeviceUnusable, UnknownDevice
from domain.host import Host
from domain.host_use import host_uses
from domain.pool import PoolSpec
from domain.resource_name import ResourceName


@dataclass(slots=True)
class PoolTable:
    """Written by the reconcile, read by Allocate; the event loop owns it."""

    wanted: Sequence[PoolSpec] = ()
    """The pools of the configuration; the next reconcile serves them."""
    served: Sequence[PoolSpec] = ()
    """The pools that the lists are of."""
    host: Host = field(default_factory=Host)
    lists: Lists = field(default_factory=dict)
    _faults: tuple[Lists, dict[ResourceName, dict[str, str | None]]] = field(default=({}, {}), init=False)
    """The lists that were last looked into, and in them what is wrong with each device."""
    _uses: tuple[Host, Mapping[str, str]] | None = field(default=None, init=False)

    @property
    def host_uses(self) -> Mapping[str, str]:
        """Why the host needs devices, as it was when the lists were made."""
        if self._uses is None or self._uses[0] is not self.host:
            self._uses = (self.host, host_uses(self.host))
        return self._uses[1]

    def spec(self, resource: ResourceName) -> PoolSpec:
        """The pool of a resource that is served and not drained."""
        return next(pool for pool in self.served if pool.name == resource)

    def is_configured(self, resource: ResourceName) -> bool:
        """Whether a pool is in the configuration; one that is not only drains."""
        return any(pool.name == resource for pool in (*self.wanted, *self.served))

    def check(self, resource: ResourceName, device_id: str) -> None:
        """Return if a device of a pool may be handed out, as far as is known.

        Raises:
            UnknownDevice: if the id is not in the pool's list.
            DeviceUnusable: if it is there with a fault.
        """
        if self._faults[0] is not self.lists:
            by_id = {name: {e.id: e.fault for e in entries} for name, entries in self.lists.items()}
            self._faults = (self.lists, by_id)
        faults = self._faults[1].get(resource, {})
        if device_id not in faults:
            raise UnknownDevice(device_id, resource)
        if (fault := faults[device_id]) is not None:
            raise DeviceUnusable(device_id, resource, fault)

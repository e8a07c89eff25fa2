"""The kubelet's side of pools."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from domain.announcement import Announced, Holding
from domain.resource_name import ResourceName


class PoolPublisher(Protocol):
    """Offers pools to the kubelet."""

    async def publish(self, resource: ResourceName, entries: Sequence[Announced]) -> None:
        """Make this the pool's list; a pool is served and registered from its first list on.

        Returns without waiting for the kubelet, which may be down.
        """

    async def withdraw(self, resource: ResourceName) -> None:
        """Announce that a pool is empty, then serve it no more."""

    async def neighbours(self) -> Collection[ResourceName]:
        """Pools that another process serves to the kubelet, as far as their sockets tell."""

    async def stop(self) -> None:
        """Stop serving every pool at once, without announcing anything."""


class KubeletContact(Protocol):
    """Knows which pools a kubelet listens to."""

    def unheard(self) -> Mapping[ResourceName, float | None]:
        """Every pool that is served or about to be, with the seconds since a kubelet listened; None while one does."""


class DeviceUse(Protocol):
    """Knows which devices are in the hands of containers."""

    @property
    def doubtful(self) -> frozenset[Holding]:
        """Those of the last answer whose pods may have ended long ago."""

    async def holdings(self) -> frozenset[Holding] | None:
        """Every device that a container may hold; None where nobody can tell."""

    async def granted(self) -> frozenset[ResourceName]:
        """Resources of which a plugin of this kind has handed out devices that may be held; empty if nobody knows."""

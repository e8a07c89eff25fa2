"""The directory for the sockets of pools."""

import os
from dataclasses import dataclass
from pathlib import Path

from adapters.kubelet.claim import remove_dead
from adapters.kubelet.instance import SocketUnbindable
from adapters.kubelet.kubelet_socket import KubeletSocket
from adapters.kubelet.socket_path import is_of_pool, socket_name
from domain.resource_name import ResourceName


@dataclass(frozen=True, slots=True)
class Place:
    """Where a pool's socket goes, and how the kubelet gets to know of it."""

    directory: Path
    host_directory: Path
    """The same directory as the kubelet sees it."""
    kubelet: KubeletSocket
    classic: bool
    """By Register on the kubelet's socket; else the kubelet's plugin watcher finds the pool's."""

    async def require_no_other(self, resource: ResourceName) -> None:
        """Return if no other process serves the pool; what a killed one left is removed.

        Raises:
            SocketTaken: if one does. Registering would take the kubelet away from it.
            SocketUnbindable: if there is no such directory.
        """
        directory = self.directory
        try:
            names = os.listdir(directory)  # noqa: PTH208 - names only
        except OSError as error:
            raise SocketUnbindable(directory, str(error.strerror)) from error
        for name in names:
            if is_of_pool(name, resource, directory, self.host_directory):
                await remove_dead(directory / name)

    def socket(self, resource: ResourceName) -> Path:
        """The path for a pool's next server; the classic way a new one each time."""
        return self.directory / socket_name(resource, self.directory, self.host_directory, marked=self.classic)

    def endpoint(self, path: Path) -> str:
        """What the watcher is told of where the pool is served.

        Left empty the kubelet uses the socket where it found it, which is right under any mount.
        """
        return "" if self.host_directory == self.directory else str(self.host_directory / path.name)

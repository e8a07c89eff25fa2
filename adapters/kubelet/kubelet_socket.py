"""The kubelet's registration socket, classic way: Register on device-plugins/kubelet.sock."""

from pathlib import Path
from typing import Final

import grpc

from adapters.kubelet.claim import live_owner
from adapters.kubelet.messages import API_VERSION
from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import RegistrationStub
from adapters.kubelet.socket_path import identity
from domain.errors import SriovError
from domain.resource_name import ResourceName

_REGISTER_LIMIT: Final = 15.0
"""Seconds. The kubelet dials the plugin for up to 10 s inside of this call (dm/plugin/v1beta1/server.go)."""


class KubeletAbsent(SriovError):
    """No kubelet answers."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} does not answer: waiting for the kubelet")


class RegistrationRefused(SriovError):
    """The kubelet did not take the registration."""

    def __init__(self, resource: ResourceName, code: grpc.StatusCode, details: str | None) -> None:
        super().__init__(f"{resource}: the kubelet refused: {code.name}: {details}")


class KubeletSocket:
    """Whichever kubelet listens on the socket; it is there whatever way pools are registered."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    @property
    def life(self) -> tuple[int, int, int] | None:
        """Tells one kubelet's life from the next; None while there is no socket."""
        return identity(self._socket)

    @property
    def born(self) -> float | None:
        """Seconds since the epoch at which the kubelet bound its socket; None while there is none."""
        try:
            return self._socket.stat().st_mtime
        except OSError:
            return None

    async def answers(self) -> bool:
        """Whether a kubelet accepts connections."""
        return await live_owner(self._socket) is not None

    async def require(self) -> None:
        """Return if a kubelet accepts connections.

        Raises:
            KubeletAbsent: if not. A starting kubelet removes every socket in the directory before it listens, so a
                plugin that serves later than this is not swept away.
        """
        if not await self.answers():
            raise KubeletAbsent(self._socket)

    async def register(self, resource: ResourceName, endpoint: str) -> None:
        """Make a served socket, by its file name, known as a resource.

        Raises:
            RegistrationRefused: if the kubelet says no or does not answer.
        """
        options = (("grpc.use_local_subchannel_pool", 1), ("grpc.default_authority", "localhost"))
        async with grpc.aio.insecure_channel(f"unix:{self._socket}", options=options) as channel:
            stub = RegistrationStub(channel)
            request = pb.RegisterRequest(version=API_VERSION, endpoint=endpoint, resource_name=str(resource))
            try:
                await stub.Register(request, timeout=_REGISTER_LIMIT)
            except grpc.aio.AioRpcError as error:
                raise RegistrationRefused(resource, error.code(), error.details()) from error

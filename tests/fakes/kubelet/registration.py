"""The registration server and the life of a connection: dm/plugin/v1beta1/server.go, handler.go.

Register answers only after the plugin was dialled and asked for its options; the options in the
request are not looked at. A stream that ends is never opened again by the kubelet.
"""

import asyncio
import os.path
from pathlib import Path

import grpc

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as dp
from adapters.kubelet.pb import deviceplugin_v1beta1_pb2_grpc as dp_grpc
from tests.fakes.kubelet.clients import Clients, ClientsByResource, ClientsBySocket
from tests.fakes.kubelet.connection import Connection
from tests.fakes.kubelet.dial import DialFailed
from tests.fakes.kubelet.endpoints import Endpoint, EndpointUnusable
from tests.fakes.kubelet.grpc_status import CallFailed
from tests.fakes.kubelet.ledger import Ledger
from tests.fakes.kubelet.resource_name import is_extended_resource
from tests.fakes.kubelet.setting import Setting
from tests.fakes.kubelet.tasks import Tasks

VERSION = "v1beta1"


class Refused(Exception):
    """The plugin cannot be registered; the text is what it is told."""


class Registrations(dp_grpc.RegistrationServicer):
    def __init__(self, ledger: Ledger, tasks: Tasks, setting: Setting) -> None:
        self._ledger = ledger
        self._tasks = tasks
        self._setting = setting
        self._journal = setting.journal
        by_socket = setting.release.keys_by_socket
        self._clients: Clients = ClientsBySocket() if by_socket else ClientsByResource()
        self._opened: list[Connection] = []

    async def Register(  # noqa: N802
        self,
        request: dp.RegisterRequest,
        context: "grpc.aio.ServicerContext[dp.RegisterRequest, dp.Empty]",
    ) -> dp.Empty:
        socket = glued(self._setting.device_plugins, request.endpoint)
        self._journal.called("Register", request.resource_name, socket, request)
        try:
            self._check(request)
            connecting = self._tasks.spawn(
                self.connect(request.resource_name, socket), f"register {request.resource_name}"
            )
            # Nobody may be left to hear of the failure.
            connecting.add_done_callback(lambda task: task.cancelled() or task.exception())
            if self._setting.release.register_follows_caller:
                await connecting
            else:
                await asyncio.shield(connecting)
        except Refused as refusal:
            self._journal.note(f"Register {request.resource_name}: {refusal}")
            await context.abort(grpc.StatusCode.UNKNOWN, str(refusal))
        return dp.Empty()

    async def connect(self, resource: str, socket: Path) -> None:
        """Dial, ask for the options, start the stream."""
        client = Connection(resource, socket, self._setting)
        self._clients.add(client)
        self._opened.append(client)
        try:
            await client.open()
            try:
                options = await client.options()
            except CallFailed as failure:
                raise Refused(f"failed to get device plugin options: {failure}") from None
            self._ledger.endpoints.connected(Endpoint(resource, client, options))
        except BaseException as failure:
            # Whoever else is kept under this key is forgotten with it.
            self._clients.drop(resource, socket)
            if isinstance(failure, DialFailed | EndpointUnusable):
                raise Refused(str(failure)) from None
            raise
        self._tasks.background(self._run(client), f"ListAndWatch {resource} {socket.name}")

    def disconnect(self, resource: str, socket: Path) -> None:
        """Part with whichever client is found under that key: it need not be the one meant."""
        client = self._clients.find(resource, socket)
        if client is None:
            return
        self._clients.drop(resource, client.socket)
        self._tasks.background(client.close(), f"close {client.socket.name}")
        self._ledger.lose(client.resource, client.socket)

    async def close(self) -> None:
        """Cut every connection, those included that a kubelet never closes while it lives."""
        for client in self._opened:
            await client.close()

    async def _run(self, client: Connection) -> None:
        try:
            async for message in client.messages():
                self._ledger.receive(client.resource, client.socket, message)
            ending = "EOF"
        except CallFailed as failure:
            ending = str(failure)
        self._journal.note(f"ListAndWatch of {client.resource} ended: {ending}")
        self.disconnect(client.resource, client.socket)

    def _check(self, request: dp.RegisterRequest) -> None:
        if request.version != VERSION:
            raise Refused(
                f'requested API version "{request.version}" is not supported by kubelet. '
                f'Supported version is ["{VERSION}"]'
            )
        if not is_extended_resource(request.resource_name):
            raise Refused(invalid_name(request.resource_name))


def invalid_name(resource: str) -> str:
    return f'the ResourceName "{resource}" is invalid'


def glued(directory: Path, endpoint: str) -> Path:
    """As Go's filepath.Join: an absolute endpoint ends up below the directory all the same."""
    return Path(os.path.normpath(f"{directory}/{endpoint}"))

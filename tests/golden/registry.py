"""The kubelet's registration service on ``kubelet.sock``, for the classic way."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from grpc import aio

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as api
from adapters.kubelet.pb import deviceplugin_v1beta1_pb2_grpc as rpc
from tests.golden.plugin import options_of


class Registry(rpc.RegistrationServicer):
    """Keeps what plugins registered."""

    def __init__(self) -> None:
        self.calls: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def Register(  # noqa: N802 - a name of the wire
        self, request: api.RegisterRequest, context: Any
    ) -> api.Empty:
        register = {
            "version": request.version,
            "endpoint": request.endpoint,
            "resource_name": request.resource_name,
            "options": options_of(request.options) if request.HasField("options") else None,
        }
        self.calls.put_nowait(register)
        return api.Empty()


@asynccontextmanager
async def registry(socket: Path) -> AsyncIterator[Registry]:
    server, service = aio.server(), Registry()
    rpc.add_RegistrationServicer_to_server(service, server)
    server.add_insecure_port(f"unix:{socket}")
    await server.start()
    try:
        yield service
    finally:
        await server.stop(grace=None)

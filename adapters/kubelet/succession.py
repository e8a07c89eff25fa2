"""How a daemon that waits for a pool's socket tells the one that has it, which may only be draining the pool.

It asks for the options of the pool, as a kubelet does, with a word in the metadata that no kubelet sends; servers of
another kind answer and pass it over.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import grpc

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import DevicePluginStub
from domain.errors import SriovError
from domain.resource_name import ResourceName

_WORD: Final = "sriovdp-waits"
_LIMIT: Final = 1.0


class PoolLeft(SriovError):
    """The pool is another process's now."""

    def __init__(self, resource: ResourceName) -> None:
        super().__init__(f"{resource} is in no configuration here, and another process serves it: left to that one")


async def tell_that_one_waits(path: Path) -> None:
    """Tell who serves a socket that another process waits to serve the pool; whatever becomes of it."""
    options = (("grpc.use_local_subchannel_pool", 1), ("grpc.default_authority", "localhost"))
    async with grpc.aio.insecure_channel(f"unix:{path}", options=options) as channel:
        with suppress(grpc.aio.AioRpcError):
            stub = DevicePluginStub(channel)
            await stub.GetDevicePluginOptions(pb.Empty(), metadata=((_WORD, "1"),), timeout=_LIMIT)


def one_waits(context: "grpc.aio.ServicerContext[Any, Any]") -> bool:
    """Whether a call tells so."""
    return any(key == _WORD for key, _ in context.invocation_metadata() or ())

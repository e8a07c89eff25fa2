"""One connection of the device manager to a plugin's socket: dm/plugin/v1beta1/client.go.

The dial blocks and goes on trying for ten seconds; only PreStartContainer has a deadline.
"""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import grpc
from google.protobuf.message import Message as Protobuf

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as dp
from adapters.kubelet.pb import deviceplugin_v1beta1_pb2_grpc as dp_grpc
from tests.fakes.kubelet.dial import DialFailed, dial
from tests.fakes.kubelet.grpc_status import CallFailed, outcome
from tests.fakes.kubelet.setting import Setting


class Connection:
    def __init__(self, resource: str, socket: Path, setting: Setting) -> None:
        self.resource = resource
        self.socket = socket
        self._timing = setting.timing
        self._journal = setting.journal
        self._rng = setting.rng
        self._channel: grpc.aio.Channel | None = None

    async def open(self) -> None:
        try:
            self._channel = await dial(self.socket, "localhost", self._timing)
        except DialFailed as failure:
            raise DialFailed(f"failed to dial device plugin: {failure}") from None

    async def close(self) -> None:
        if self._channel is not None:
            await self._channel.close()

    async def options(self) -> dp.DevicePluginOptions:
        self._record("GetDevicePluginOptions", dp.Empty())
        return await outcome(self._stub.GetDevicePluginOptions(dp.Empty()), self.socket)

    async def messages(self) -> AsyncIterator[dp.ListAndWatchResponse]:
        """Yield until the stream ends; its status is raised unless it is OK."""
        self._record("ListAndWatch", dp.Empty())
        stream = self._stub.ListAndWatch(dp.Empty())
        try:
            while True:
                message = await outcome(stream.read(), self.socket)
                if not isinstance(message, dp.ListAndWatchResponse):
                    return  # grpc.aio.EOF
                yield message
        finally:
            stream.cancel()

    async def allocate(self, devices: Sequence[str]) -> dp.AllocateResponse:
        request = dp.AllocateRequest(
            container_requests=[dp.ContainerAllocateRequest(devices_ids=self._shuffled(devices))]
        )
        self._record("Allocate", request)
        return await outcome(self._stub.Allocate(request), self.socket)

    async def preferred(
        self, available: Sequence[str], must_include: Sequence[str], size: int
    ) -> dp.PreferredAllocationResponse:
        request = dp.PreferredAllocationRequest(
            container_requests=[
                dp.ContainerPreferredAllocationRequest(
                    available_deviceIDs=self._shuffled(available),
                    must_include_deviceIDs=self._shuffled(must_include),
                    allocation_size=size,
                )
            ]
        )
        self._record("GetPreferredAllocation", request)
        return await outcome(self._stub.GetPreferredAllocation(request), self.socket)

    async def pre_start(self, devices: Sequence[str]) -> None:
        request = dp.PreStartContainerRequest(devices_ids=self._shuffled(devices))
        self._record("PreStartContainer", request)
        call = self._stub.PreStartContainer(request, timeout=self._timing.pre_start)
        await outcome(call, self.socket)

    @property
    def _stub(self) -> "dp_grpc.DevicePluginAsyncStub":
        if self._channel is None:
            raise CallFailed(grpc.StatusCode.CANCELLED, "not connected")
        return dp_grpc.DevicePluginStub(self._channel)

    def _record(self, method: str, argument: Protobuf) -> None:
        self._journal.called(method, self.resource, self.socket, argument)

    def _shuffled(self, ids: Sequence[str]) -> list[str]:
        """Go's map order: a plugin cannot rely on any."""
        return self._rng.sample(sorted(ids), len(ids))

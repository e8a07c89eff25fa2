"""Which container holds which device, from the kubelet's pod-resources API."""

import errno
from pathlib import Path
from typing import Final

import grpc
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from adapters.kubelet.pb import podresources_v1_pb2 as pb
from adapters.kubelet.pb.podresources_v1_pb2_grpc import PodResourcesListerStub
from application.ports.journal import Journal
from domain.announcement import Holding
from domain.errors import InvalidResourceName
from domain.resource_name import ResourceName

_LIST_LIMIT: Final = 10.0
_LARGEST_ANSWER: Final = 16 << 20
_ATTEMPTS: Final = 5
"""The kubelet answers 100 calls a second and refuses the others (pkg/kubelet/apis/podresources/constants.go)."""


class PodResources:
    """Asks the socket below the kubelet's directory. Where it is not mounted, nobody can tell."""

    def __init__(self, kubelet_directory: Path, journal: Journal) -> None:
        self._socket = kubelet_directory / "pod-resources" / "kubelet.sock"
        self._journal = journal
        self._told = ""

    @property
    def mounted(self) -> bool:
        """Whether there is anybody to ask, alive or not. Whose socket may not be looked at is not there, and told."""
        try:
            return self._socket.is_socket()
        except OSError as error:
            self._tell(errno.errorcode.get(error.errno or 0, ""), f"{self._socket}: {error.strerror}")
            return False

    async def holdings(self) -> frozenset[Holding] | None:
        """Every device that a container holds; None if the kubelet does not tell.

        A kubelet that lists no pod at all, not even the one this runs in, does not know its pods yet.
        """
        if not self.mounted:
            return None
        try:
            answer = await self._list()
        except grpc.aio.AioRpcError as error:
            self._tell(error.code().name, error.details())
            return None
        self._told = ""
        if not answer.pod_resources:
            return None
        return frozenset(
            Holding(resource, device_id)
            for pod in answer.pod_resources
            for container in pod.containers
            for devices in container.devices
            if (resource := _resource(devices.resource_name))
            for device_id in devices.device_ids
        )

    def _tell(self, code: str, reason: str | None) -> None:
        if self._told != code:
            self._told = code
            self._journal.warning("pod resources unknown", code=code, reason=reason)

    async def _list(self) -> pb.ListPodResourcesResponse:
        options = (
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.default_authority", "localhost"),
            ("grpc.max_receive_message_length", _LARGEST_ANSWER),
        )
        async with grpc.aio.insecure_channel(f"unix:{self._socket}", options=options) as channel:
            stub = PodResourcesListerStub(channel)
            answer = pb.ListPodResourcesResponse()
            async for attempt in AsyncRetrying(
                stop=stop_after_attempt(_ATTEMPTS),
                wait=wait_random_exponential(multiplier=0.05, max=1.0),
                retry=retry_if_exception(_rate_limited),
                reraise=True,
            ):
                with attempt:
                    answer = await stub.List(pb.ListPodResourcesRequest(), timeout=_LIST_LIMIT)
            return answer


def _rate_limited(error: BaseException) -> bool:
    return isinstance(error, grpc.aio.AioRpcError) and error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def _resource(text: str) -> ResourceName | None:
    try:
        return ResourceName.parse(text)
    except InvalidResourceName:
        return None

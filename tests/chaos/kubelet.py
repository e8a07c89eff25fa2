"""The kubelet that chaos is made before: the newest real one that is built, else the fake as a program."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

import grpc

from adapters.kubelet.pb import podresources_v1_pb2 as pb
from adapters.kubelet.pb.podresources_v1_pb2_grpc import PodResourcesListerStub
from tests.fakes.kubelet.panic import KubeletPanic
from tests.fakes.kubelet_harness import KubeletHarness
from tests.kubelet.binaries import binaries
from tests.model.expectation import Hold

_WITHIN: Final = 20.0


class FakeProgram(KubeletHarness):
    """The fake kubelet behind the same pipe."""

    def __init__(self, directory: Path) -> None:
        super().__init__(Path(sys.executable), directory)
        self._command = [sys.executable, "-m", "tests.fakes.kubelet", str(directory)]


def newest(directory: Path) -> tuple[KubeletHarness, str]:
    """A kubelet of this directory, and what it is called."""
    found = binaries()
    if not found:
        return FakeProgram(directory), "fake kubelet"
    version = max(found, key=lambda text: int(text.partition(".")[2]))
    return KubeletHarness(found[version], directory), f"kubelet {version}"


async def holders(directory: Path) -> dict[Hold, list[str]]:
    """Which pods hold each device, as pod-resources tells."""
    found: dict[Hold, list[str]] = {}
    options = (("grpc.use_local_subchannel_pool", 1), ("grpc.default_authority", "localhost"))
    async with grpc.aio.insecure_channel(f"unix:{directory / 'pod-resources' / 'kubelet.sock'}", options) as channel:
        answer = await PodResourcesListerStub(channel).List(
            pb.ListPodResourcesRequest(), timeout=_WITHIN, wait_for_ready=True
        )
    for pod in answer.pod_resources:
        for container in pod.containers:
            # A device has a row for each of its NUMA nodes.
            held = {(row.resource_name, id_) for row in container.devices for id_ in row.device_ids}
            for hold in held:
                found.setdefault(hold, []).append(pod.name)
    return found


async def end(kubelet: KubeletHarness) -> None:
    with suppress(LookupError, KubeletPanic):
        await kubelet.__aexit__(None, None, None)

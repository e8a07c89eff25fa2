"""The pod-resources socket (facts/kubelet.md 1.4, 8.13)."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from adapters.kubelet.pb import podresources_v1_pb2 as pr
from adapters.kubelet.pb import podresources_v1_pb2_grpc as pr_grpc
from tests.contract.kubelet_fake.stage import Stage, story
from tests.fakes.kubelet import Container
from tests.fakes.plugin import RESOURCE, device


@contextlib.asynccontextmanager
async def lister(directory: Path) -> AsyncIterator["pr_grpc.PodResourcesListerAsyncStub"]:
    path = directory / "pod-resources" / "kubelet.sock"
    async with grpc.aio.insecure_channel(f"unix:{path}") as channel:
        yield pr_grpc.PodResourcesListerStub(channel)


def rows(devices: list[pr.ContainerDevices]) -> list[tuple[str, list[int]]]:
    return [(d.device_ids[0], [node.ID for node in d.topology.nodes]) for d in devices]


@story
async def test_there_is_a_row_for_each_device_and_node(directory: Path) -> None:
    """Item 41: one without topology has one row, one with an empty TopologyInfo none."""
    devices = [
        device("d0", numa=[-1]),
        device("d1", numa=[]),
        device("d2", numa=[0, 1]),
        device("d3", numa=[7]),
        device("d4"),
        device("d5", "Unhealthy"),
    ]
    async with Stage(directory) as stage, lister(directory) as stub:
        await stage.registered(devices=devices)
        answer = await stub.GetAllocatableResources(pr.AllocatableResourcesRequest())
        assert all(len(row.device_ids) == 1 for row in answer.devices)
        assert {row.resource_name for row in answer.devices} == {RESOURCE}
        expected = [("d0", [-1]), ("d2", [0]), ("d2", [1]), ("d3", [7]), ("d4", [])]
        assert sorted(rows(list(answer.devices))) == expected


@story
async def test_the_rows_come_in_no_order(directory: Path) -> None:
    """Item 41."""
    async with Stage(directory) as stage, lister(directory) as stub:
        await stage.registered(devices=[f"d{number}" for number in range(9)])
        await stage.kubelet.admit("a", {RESOURCE: 9})
        orders = set()
        for _ in range(4):
            answer = await stub.List(pr.ListPodResourcesRequest())
            [container] = answer.pod_resources[0].containers
            orders.add(tuple(id_ for id_, _ in rows(list(container.devices))))
        assert len(orders) > 1


@story
async def test_more_than_ten_calls_at_once_are_turned_away(directory: Path) -> None:
    """Item 42: 100 a second, 10 at once."""
    async with Stage(directory), lister(directory) as stub:

        async def call() -> str:
            try:
                await stub.List(pr.ListPodResourcesRequest())
            except grpc.aio.AioRpcError as error:
                return f"{error.code().name} {error.details()}"
            return "answered"

        began = time.monotonic()
        answers = await asyncio.gather(*(call() for _ in range(60)))
        assert set(answers) == {"answered", "RESOURCE_EXHAUSTED rejected by rate limit"}
        refilled = 100 * (time.monotonic() - began)
        assert 10 <= answers.count("answered") <= 11 + refilled
        await asyncio.sleep(0.1)
        assert await call() == "answered"


@pytest.mark.parametrize("version", ["1.32", "1.34", "1.37"])
@story
async def test_only_active_pods_are_listed_from_1_34_on(directory: Path, version: str) -> None:
    """Item 43: the ended one has no devices any more; init containers are absent, sidecars not."""
    async with Stage(directory, version) as stage, lister(directory) as stub:
        await stage.registered()
        await stage.kubelet.admit("ended", {RESOURCE: 1})
        await stage.kubelet.terminate("ended")
        await stage.kubelet.admit("refused", {RESOURCE: 5})
        init = [Container("side", {RESOURCE: 1}, sidecar=True), Container("i1", {RESOURCE: 1})]
        await stage.kubelet.admit("a", {RESOURCE: 2}, init=init, namespace="ns", name="pod")
        answer = await stub.List(pr.ListPodResourcesRequest())
        listed = {
            (pod.namespace, pod.name): {c.name: len(c.devices) for c in pod.containers} for pod in answer.pod_resources
        }
        running = {("ns", "pod"): {"side": 1, "c0": 2}}
        gone = {("default", "ended"): {"c0": 0}, ("default", "refused"): {"c0": 0}}
        assert listed == (running | gone if version == "1.32" else running)


@pytest.mark.parametrize("version", ["1.32", "1.34", "1.35", "1.36", "1.37"])
@story
async def test_get_finds_one_pod_from_1_34_on(directory: Path, version: str) -> None:
    """Section 1.4: before, its gate is off."""
    async with Stage(directory, version) as stage, lister(directory) as stub:
        await stage.registered(devices=[device("d0", numa=[1])])
        await stage.kubelet.admit("a", {RESOURCE: 1}, namespace="ns", name="pod")
        request = pr.GetPodResourcesRequest(pod_name="pod", pod_namespace="ns")
        if version == "1.32":
            with pytest.raises(grpc.aio.AioRpcError, match="PodResources API Get method disabled"):
                await stub.Get(request)
            return
        answer = await stub.Get(request)
        assert rows(list(answer.pod_resources.containers[0].devices)) == [("d0", [1])]
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await stub.Get(pr.GetPodResourcesRequest(pod_name="x", pod_namespace="ns"))
        assert failure.value.code() is grpc.StatusCode.UNKNOWN
        assert failure.value.details() == "pod x in namespace ns not found"

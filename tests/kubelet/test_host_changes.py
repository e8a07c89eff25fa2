"""VFs vanish, return and change their driver, in the eyes of the kubelet and of its pod-resources."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc

from adapters.kubelet.pb import podresources_v1_pb2 as pr
from adapters.kubelet.pb import podresources_v1_pb2_grpc as pr_grpc
from tests.daemon.process import DaemonProcess
from tests.fakes.kubelet_harness import KubeletHarness
from tests.kubelet.scene import DPDK, KERN, POOLS, WHOLE, Node, held, play, until_allocatable

PF = "0000:3b:00.0"
VFS = [f"0000:3b:01.{index}" for index in range(8)]


def test_a_rebound_vf_changes_its_pool_and_a_held_one_stays(binary: Path, way: str) -> None:
    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        assert (await kubelet.admit("pod", {DPDK: 1})).admitted
        (mine,) = held(await kubelet.devices(), DPDK)
        free = next(vf for vf in VFS[4:] if vf != mine)
        here.laid.rebind(free, "iavf")
        await until_allocatable(kubelet, {KERN: 9, DPDK: 7})
        here.laid.rebind(mine, "iavf")
        await until_allocatable(kubelet, {KERN: 9, DPDK: 6})
        assert (await kubelet.capacity()).device_manager.capacity[DPDK] == 7
        assert await allocatable(here, DPDK) == 6
        assert mine in held(await kubelet.devices(), DPDK)
        assert await listed(here) == {DPDK: [mine]}
        await kubelet.terminate("pod")
        here.laid.rebind(free, "vfio-pci")
        await until_allocatable(kubelet, {KERN: 9, DPDK: 7})

    play(binary, way, story)


def test_vfs_that_vanish_and_return_under_a_holder(binary: Path, way: str, policy: str) -> None:
    """Held ones are never missing in the list: a kubelet from 1.34 on panics when their pod is admitted again."""

    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        assert (await kubelet.admit("pod", {KERN: 3, DPDK: 3})).admitted
        mine = {pool: [d for d in held(await kubelet.devices(), pool) if d in VFS] for pool in WHOLE}
        here.laid.remove_vfs(PF)
        await until_allocatable(kubelet, {KERN: 4, DPDK: 4})
        capacity = (await kubelet.capacity()).device_manager.capacity
        assert capacity == {pool: 4 + len(ids) for pool, ids in mine.items()}
        # A reboot in this state: the pod is refused, and the kubelet lives.
        verdicts = await kubelet.restart(containers_gone=True, no_readmit=True)
        await until_allocatable(kubelet, {KERN: 4, DPDK: 4})
        verdicts = await kubelet.readmit()
        assert verdicts["pod"].admitted is not any(mine.values()), verdicts
        here.laid.create_vfs(PF, 8, driver="iavf")
        for vf in VFS[4:]:
            here.laid.rebind(vf, "vfio-pci")
        await kubelet.terminate("pod")
        await until_allocatable(kubelet, WHOLE)
        assert (await kubelet.capacity()).device_manager.capacity == WHOLE
        assert (await kubelet.admit("new", {KERN: 8, DPDK: 8} if policy == "none" else {KERN: 4, DPDK: 4})).admitted

    play(binary, way, story, "--policy", policy, "--numa", "2")


def test_a_pool_that_leaves_the_configuration_drains(binary: Path, way: str) -> None:
    async def story(here: Node, kubelet: KubeletHarness, process: DaemonProcess) -> None:
        assert (await kubelet.admit("pod", {DPDK: 1})).admitted
        here.configure(POOLS[0])
        await until_allocatable(kubelet, {KERN: 8, DPDK: 0})
        assert (await kubelet.capacity()).device_manager.capacity[DPDK] == 1
        assert (await kubelet.start("pod", "c0")).error == ""
        here.configure(*POOLS)
        await until_allocatable(kubelet, WHOLE)

    play(binary, way, story)


@asynccontextmanager
async def lister(here: Node) -> AsyncIterator["pr_grpc.PodResourcesListerAsyncStub"]:
    async with grpc.aio.insecure_channel(f"unix:{here.directory / 'pod-resources' / 'kubelet.sock'}") as channel:
        yield pr_grpc.PodResourcesListerStub(channel)


async def allocatable(here: Node, resource: str) -> int:
    """Devices of a resource that pod-resources calls allocatable."""
    async with lister(here) as stub:
        answer = await stub.GetAllocatableResources(pr.AllocatableResourcesRequest())
    return sum(row.resource_name == resource for row in answer.devices)


async def listed(here: Node) -> dict[str, list[str]]:
    """Devices of running pods by resource, as pod-resources tells."""
    found: dict[str, list[str]] = {}
    async with lister(here) as stub:
        answer = await stub.List(pr.ListPodResourcesRequest())
    for pod in answer.pod_resources:
        for container in pod.containers:
            for row in container.devices:
                found.setdefault(row.resource_name, []).extend(row.device_ids)
    return found

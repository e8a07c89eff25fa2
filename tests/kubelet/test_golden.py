"""What containers get by way of a real kubelet is what the golden cases say."""

import asyncio
import os
import time
from pathlib import Path
from typing import Final

from tests.daemon.process import daemon
from tests.fakes.kubelet_harness import KubeletHarness
from tests.golden.case import Answer, Case, load, names
from tests.kubelet.golden import flags, laid, wrong
from tests.kubelet.scene import WITHIN

#: One of each kind of pool and facility; SRIOVDP_CASES=all takes every case that serves anything.
FEW: Final = (
    "accelerator_vfio additional_info cdi_two_pools guest_noiommu guest_vdpa iavf_vfs prefixes rdma_vfs subfunctions"
    " uio_igb vfio_two_numa vhost_net"
)
AT_ONCE: Final = 3


def cases() -> list[Case]:
    chosen = os.environ.get("SRIOVDP_CASES", FEW).split()
    found = map(load, names() if chosen == ["all"] else chosen)
    # Those with resources_devices are about the lists alone.
    return [case for case in found if case.pools and "resources_devices" not in case.right[0]]


def test_containers_get_the_golden_answers(binary: Path, way: str) -> None:
    """Each device alone, until there is none; then the pod that asks for one more is refused."""

    async def run() -> list[str]:
        few = asyncio.Semaphore(AT_ONCE)

        async def one(case: Case) -> list[str]:
            async with few:
                try:
                    return [f"{case.name}: {fault}" for fault in await faults_of(case, binary, way)]
                except AssertionError as failure:
                    return [f"{case.name}: {failure}"]

        return [fault for found in await asyncio.gather(*map(one, cases())) for fault in found]

    assert asyncio.run(run()) == []


async def faults_of(case: Case, binary: Path, way: str) -> list[str]:
    with laid(case) as node:
        (node.base / "log0").mkdir()
        async with (
            KubeletHarness(binary, node.base / "k") as kubelet,
            daemon(node.base / "log0", *flags(node, way)),
        ):
            pools = await until_counted(kubelet, [right["resources"] for right in case.right])
            healthy = (await kubelet.capacity()).device_manager.allocatable
            found = []
            for name, pool in pools.items():
                faults = await hand_out(kubelet, name, healthy[name], pool, node.cdi())
                found += [f"{name}: {fault}" for fault in faults]
            return found


async def until_counted(kubelet: KubeletHarness, answers: list[Answer]) -> Answer:
    """Wait for the lists of one of the right answers; which devices are healthy it may leave open."""
    deadline = time.monotonic() + WITHIN
    while True:
        seen = (await kubelet.capacity()).device_manager.capacity
        for pools in answers:
            if seen == {name: len(pool["devices"]) for name, pool in pools.items()}:
                return pools
        if time.monotonic() > deadline:
            raise AssertionError(f"capacity {seen}")
        await asyncio.sleep(0.02)


async def hand_out(kubelet: KubeletHarness, name: str, healthy: int, pool: Answer, cdi: Answer) -> list[str]:
    """Give every healthy device of a pool to a pod of its own."""
    found: list[str] = []
    for number in range(healthy):
        uid = f"{name.replace('/', '-')}-{number}"
        admitted = await kubelet.admit(uid, {name: 1})
        if not admitted.admitted:
            found += refusal(pool, admitted.message)
            continue
        [device] = (await kubelet.devices(uid))[uid]["c0"]["devices"][name]
        found += [f"{device}: {fault}" for fault in wrong(pool, device, admitted.containers["c0"], cdi)]
    if (await kubelet.admit(f"{name.replace('/', '-')}-more", {name: 1})).admitted and not found:
        found.append("one more was admitted")
    return found


def refusal(pool: Answer, message: str) -> list[str]:
    """A device that cannot be used whole is refused, and the pod's message names what the case names."""
    errors = [call["response"]["error"] for call in pool["calls"] if "error" in call["response"]]
    named = [e for e in errors if all(text in message for text in e.get("names", ()))]
    return [] if named else [f"refused: {message}"]

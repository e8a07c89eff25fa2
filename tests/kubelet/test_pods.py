"""Pods of a node with three pools of eight: admitted, started, ended, and refused when nothing is left."""

import asyncio
import json
from pathlib import Path
from typing import Final

from tests.fakes.kubelet_harness import KubeletHarness
from tests.hosts.host import SimHost
from tests.hosts.ids import ACCELERATOR
from tests.hosts.iommu import VFIO
from tests.kubelet.scene import DPDK, KERN, POOLS, Node, held, node, until_allocatable

FEC: Final = "intel.com/fec"
THREE: Final = (*POOLS, {"resourceName": "fec", "deviceType": "accelerator", "selectors": {"vendors": ["8086"]}})
COUNTS: Final = {KERN: 8, DPDK: 8, FEC: 8}


def three() -> SimHost:
    """A NIC and an accelerator on each of two NUMA nodes: 8 VFs a pool, 4 of each node."""
    host = SimHost()
    for numa, bus in enumerate(("3b", "af")):
        pf = host.pf(f"0000:{bus}:00.0", netdevs=[f"ens{numa}f0"], numa=numa)
        for index in range(8):
            host.vf(pf, index, driver="iavf" if index < 4 else VFIO)
        card = host.pf(
            f"0000:{bus}:02.0",
            device="0d5c",
            vf_device="0d5d",
            class_code=ACCELERATOR,
            driver=VFIO,
            vf_driver=VFIO,
            numa=numa,
            totalvfs=4,
        )
        host.vfs(card, 4)
    return host


def test_24_pods_get_the_24_devices_and_the_25th_is_refused(binary: Path, way: str, policy: str) -> None:
    async def run() -> None:
        with node(three(), THREE) as here:
            async with (
                KubeletHarness(binary, here.directory, "--policy", policy, "--numa", "2") as kubelet,
                here.daemon(way) as process,
            ):
                await until_allocatable(kubelet, COUNTS)
                await play(here, kubelet)
                assert len(process.told("allocated")) == 24 + 3

    async def play(here: Node, kubelet: KubeletHarness) -> None:
        for resource in COUNTS:
            pool = resource.partition("/")[2]
            for number in range(8):
                admitted = await kubelet.admit(f"{pool}-{number}", {resource: 1})
                assert admitted.admitted, admitted.message
            devices = await kubelet.devices()
            assert len(set(held(devices, resource))) == 8
            refused = await kubelet.admit(f"{pool}-8", {resource: 1})
            assert not refused.admitted
            # A container that starts again gets what it had, without another Allocate.
            uid = f"{pool}-3"
            first, again = [await kubelet.start(uid, "c0") for _ in range(2)]
            assert first == again
            assert first.env[f"PCIDEVICE_INTEL_COM_{pool.upper()}"] in held({uid: devices[uid]}, resource)
            await kubelet.terminate(uid)
            assert (await kubelet.admit(f"{pool}-9", {resource: 1})).admitted

    asyncio.run(run())


def test_a_pod_of_three_pools_gets_all_of_them(binary: Path, way: str) -> None:
    async def run() -> None:
        with node(three(), THREE) as here:
            async with KubeletHarness(binary, here.directory) as kubelet, here.daemon(way):
                await until_allocatable(kubelet, COUNTS)
                admitted = await kubelet.admit("pod", {KERN: 1, DPDK: 2, FEC: 3})
                assert admitted.admitted, admitted.message
                started = admitted.containers["c0"]
                nodes = set()
                for name, count in (("KERN", 1), ("DPDK", 2), ("FEC", 3)):
                    ids = started.env[f"PCIDEVICE_INTEL_COM_{name}"].split(",")
                    assert len(ids) == count
                    info = json.loads(started.env[f"PCIDEVICE_INTEL_COM_{name}_INFO"])
                    assert sorted(info) == ids
                    nodes |= {facts["vfio"]["dev-mount"] for facts in info.values() if "vfio" in facts}
                assert len(nodes) == 5
                assert {d["host"] for d in started.devices} == {"/dev/vfio/vfio", *nodes}

    asyncio.run(run())

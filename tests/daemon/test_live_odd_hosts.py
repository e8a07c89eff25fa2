"""Hosts that are odd, or change while they are read."""

import asyncio
import json
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.daemon.live import IDS, live, name
from tests.daemon.quiet import Quiet
from tests.hosts.host import SimHost
from tests.hosts.laid import LaidHost
from tests.hosts.named import h1
from tests.hosts.netdev import Netdev
from tests.hosts.representor import switchdev
from tests.hosts.uio import UioDevice
from tests.hosts.vdpa import VIRTIO, VdpaDevice

OTHER_PF = "0000:af:00.0"
NAMED = {"resourceName": "named", "selectors": {"pfNames": ["ens1f0#0-3"]}}
VHOST = {"resourceName": "vhost", "selectors": {"vdpaType": "vhost"}}
VIRT = {"resourceName": "virt", "selectors": {"vdpaType": "virtio"}}
REST = {"resourceName": "rest", "selectors": {"vendors": ["8086"]}}


def test_vfs_of_another_pf_that_come_and_go_meanwhile_cost_this_one_nothing() -> None:
    """Case I01: at each start, and after it."""

    async def story() -> None:
        host = h1()
        host.pf(OTHER_PF, netdevs=["ens2f0"])
        async with live(host, NAMED) as node:
            for number in range(1, 4):
                with churn(node.laid):
                    await node.start()
                    await node.until(lambda: node.streams("named") == number)  # noqa: B023 - asked at once
                    await node.counts("named", 4, 4)
                    async with Quiet(node, "named", settle=0.2):
                        pass
                await node.stop()
            assert {tuple(message.health) for message in node.lists("named")} == {tuple(IDS)}

    asyncio.run(story())


def test_a_daemon_that_may_open_no_more_files_takes_nothing_for_gone() -> None:
    async def story() -> None:
        async with live(h1(), REST) as node:
            process = await node.start()
            await node.served("rest", 4)
            pid = process.process.pid
            before = resource.prlimit(
                pid, resource.RLIMIT_NOFILE, (3, resource.prlimit(pid, resource.RLIMIT_NOFILE)[1])
            )
            node.laid.remove_function(IDS[3])
            await process.until_told("not reconciled")
            assert "Too many open files" in process.told("not reconciled")[0]["reason"]
            assert node.kubelet.counts(name("rest")) == (4, 4)
            assert "Too many open files" in (await node.kubelet.admit("pod", {name("rest"): 1})).message
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
            await node.counts("rest", 3, 3)
            assert [sorted(message.health) for message in node.lists("rest")] == [IDS, IDS[:3]]

    asyncio.run(story())


def test_functions_that_tell_nothing_are_left_out_alone_and_named() -> None:
    """Case I01: without modalias, without class and ids, unreadable, with a name that is no address."""

    async def story() -> None:
        async with live(h1(), REST) as node:
            devices = "sys/bus/pci/devices"
            node.laid.tree.delete(f"{devices}/{IDS[0]}/modalias")
            for file in ("uevent", "class", "vendor", "device"):
                node.laid.tree.delete(f"{devices}/{IDS[1]}/{file}")
            node.laid.tree.delete(f"{devices}/{IDS[2]}/uevent")
            node.laid.tree.directory(f"{devices}/{IDS[2]}/uevent")  # reading it fails, whoever reads
            node.laid.tree.text(f"{devices}/no-address/uevent", "")
            process = await node.start()
            await node.served("rest", 2)
            assert list(node.health("rest")) == [IDS[0], IDS[3]]
            told = {event["device"]: event["reason"] for event in process.told("device left out")}
            assert told.keys() == {IDS[1], IDS[2], "no-address"}
            assert told[IDS[2]] == "uevent: Is a directory"
            node.laid.tree.delete(f"{devices}/{IDS[2]}/uevent")
            node.laid.tree.text(f"{devices}/{IDS[2]}/uevent", node.laid.function(IDS[2]).ids.uevent(IDS[2], "iavf"))
            await node.counts("rest", 3, 3)

    asyncio.run(story())


def test_a_call_that_fails_ends_nothing_else() -> None:
    """Case I05: an empty uio directory."""

    async def story() -> None:
        host = h1()
        host.function("0000:00:07.0", device="154c", driver="igb_uio", children=[UioDevice(0)], bridges=())
        uio = {"resourceName": "uio", "health": "off", "selectors": {"drivers": ["igb_uio"]}}
        async with live(host, uio, NAMED) as node:
            process = await node.start()
            await node.served("uio", 1)
            await node.served("named", 4)
            async with Quiet(node, "uio", "named"):
                node.laid.tree.delete("sys/bus/pci/devices/0000:00:07.0/uio/uio0")
                assert "the uio device of the function is missing" in await node.refusal("uio", "0000:00:07.0")
            assert await node.holds("pod", "named")
            assert (node.streams("uio"), node.streams("named")) == (1, 1)
            assert process.process.returncode is None

    asyncio.run(story())


def test_the_number_in_the_name_of_a_virtfn_link_is_the_index() -> None:
    """Case I06: also when the gap appears, and is filled again."""

    async def story() -> None:
        async with live(h1(), NAMED, {**REST, "selectors": {"pfNames": ["ens1f0#1"]}}) as node:
            node.laid.remove_function(IDS[1])
            await node.start()
            await node.served("named", 3)
            assert list(node.health("named")) == [IDS[0], IDS[2], IDS[3]]
            node.laid.add(node.laid.description.vf(node.laid.function("0000:3b:00.0"), 1))
            await node.counts("named", 4, 4)

    asyncio.run(story())


def test_only_a_default_route_that_carries_traffic_keeps_a_port_from_pods() -> None:
    """Cases I07, D11: the tables list a rejecting ::/0 on lo from the start."""

    async def story() -> None:
        host = SimHost()
        for number in range(2):
            host.pf(f"0000:5e:00.{number}", netdevs=[f"ens2f{number}"])
        async with live(host, REST) as node:
            await node.start()
            await node.served("rest", 2)
            async with Quiet(node, "rest"):
                rejecting = node.laid.tree.read("proc/net/ipv6_route").replace("      lo", "  ens2f0")
                node.laid.tree.text("proc/net/ipv6_route", rejecting)
            node.laid.uses.add_default_route("ens2f1", "fe80::1")
            await node.counts("rest", 1, 1)
            assert list(node.health("rest")) == ["0000:5e:00.0"]
            node.laid.uses.drop_routes("ens2f1")
            await node.counts("rest", 2, 2)

    asyncio.run(story())


def test_each_vdpa_device_is_judged_alone_and_refused_when_it_is_gone() -> None:
    """Cases I09, I11: one on virtio whose device lies below the VF, one on no driver, one that tells nothing."""

    async def story() -> None:
        host = SimHost()
        pf = host.pf("0000:3b:00.0", netdevs=["ens1f0"])
        odd = [VdpaDevice("vdpa0"), VdpaDevice("vdpa1", VIRTIO, 1, Netdev("eth1")), VdpaDevice("vdpa2", None)]
        for index, device in enumerate([*odd, VdpaDevice("vdpa3", number=3)]):
            host.vf(pf, index, netdevs=(), children=[device])
        async with live(host, VHOST, VIRT, REST) as node:
            await node.start()
            await node.served("vhost", 2)
            await node.served("virt", 1)
            await node.served("rest", 1)
            assert list(node.health("vhost")) == [IDS[0], IDS[3]]
            node.laid.tree.delete("dev/vhost-vdpa-3")
            await node.counts("vhost", 2, 1)
            assert "/dev/vhost-vdpa-3 is missing" in await node.refusal("vhost", IDS[3])
            files = node.files()
            odd[0].remove(node.laid.tree, node.laid.function(IDS[0]).path)
            assert IDS[0] in await node.refusal("vhost", IDS[0])
            held = node.files()[f"intel.com-vhost-{IDS[0]}-device.json"]
            assert held == files[f"intel.com-vhost-{IDS[0]}-device.json"]

    asyncio.run(story())


def test_the_uplink_of_a_switchdev_pf_is_found_without_rights_and_its_vfs_stay() -> None:
    """Cases I10, D01: representors come and go, and sort before it."""

    async def story() -> None:
        host = SimHost()
        ports = switchdev(Netdev("ens1f0"), 2, switch_id="0a0b")
        early = Netdev("a0", phys_switch_id="0a0b", phys_port_name="pf0vf2")
        pf = host.pf("0000:3b:00.0", netdevs=[ports[0], early, ports[1], ports[2]])
        host.vfs(pf, 4)
        async with live(host, NAMED) as node:
            await node.start()
            await node.served("named", 4)
            async with Quiet(node, "named"):
                early.remove(node.laid.tree, pf.path)
            info = node.devinfo / f"intel.com-named-{IDS[1]}-device.json"
            assert json.loads(info.read_text(encoding="utf-8"))["pci"]["representor-device"] == "ens1f0_1"

    asyncio.run(story())


def test_a_vf_whose_netdev_comes_back_under_the_pods_name_is_where_it_was() -> None:
    """Case I12: also for a daemon that starts then."""

    async def story() -> None:
        async with live(h1(), NAMED) as node:
            await node.start()
            await node.served("named", 4)
            (held,) = await node.holds("pod", "named")
            async with Quiet(node, "named"):
                node.laid.move_netdev_to_pod(held)
            await node.kubelet.terminate("pod")
            async with Quiet(node, "named"):
                node.laid.return_netdev(held, "net1")
            await node.restart()
            await node.until(lambda: node.streams("named") == 2)
            await node.served("named", 4)
            assert node.kubelet.counts(name("named")) == (4, 4)

    asyncio.run(story())


@contextmanager
def churn(laid: LaidHost) -> Iterator[None]:
    """VFs of the other PF come and go without a pause."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            laid.create_vfs(OTHER_PF, 4)
            laid.remove_vfs(OTHER_PF)
            time.sleep(0.002)  # the kubelet lives in this process too

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(10)

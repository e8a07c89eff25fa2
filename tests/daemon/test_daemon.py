"""The daemon as operators run it: its own process, a simulated host, the fake kubelet."""

import asyncio
import json
import os
import shutil
import signal
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.process import daemon
from tests.fakes.kubelet import EAGER, FakeKubelet
from tests.hosts.named import demo, h1

KERN = {"resourceName": "kern", "selectors": {"drivers": ["iavf"]}}
DPDK = {"resourceName": "dpdk", "selectors": [{"drivers": ["vfio-pci"]}]}
NOT_THERE = {"resourceName": "none", "selectors": {"vendors": ["15b3"]}}


class Node:
    """Directories of a node, and the flags that point a daemon at them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.root = directory / "h"
        self.config = directory / "node-1"
        self.devinfo = directory / "devinfo" / "dp"
        self.flags = [
            f"--config-file={self.config}",
            f"--root={self.root}",
            f"--kubelet-dir={directory}",
            f"--devinfo-dir={self.devinfo}",
        ]

    def configure(self, *pools: dict[str, Any]) -> None:
        self.config.write_text(json.dumps({"resourceList": pools}), encoding="utf-8")

    def sockets(self) -> list[str]:
        return [p.name for p in self.directory.glob("*/*") if p.is_socket() and p.name != "kubelet.sock"]


@pytest.fixture
def node(short_path: Path) -> Node:
    return Node(short_path)


def run(story: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(story())  # type: ignore[arg-type]


@pytest.mark.parametrize("way", ["watcher", "classic"])
def test_a_node_is_served_from_its_configuration_to_a_pods_environment(way: str, node: Node) -> None:
    demo().lay(node.root)
    node.configure(KERN, DPDK)

    async def story() -> None:
        async with (
            FakeKubelet(node.directory, timing=EAGER, watcher=way == "watcher") as kubelet,
            daemon(node.directory, *node.flags) as process,
        ):
            await kubelet.wait_allocatable("intel.com/kern", 8, 60)
            await kubelet.wait_allocatable("intel.com/dpdk", 8, 60)
            admitted = await kubelet.admit("pod", {"intel.com/dpdk": 2})
            assert admitted.admitted, admitted.message
            started = admitted.containers["c0"]
            ids = started.env["PCIDEVICE_INTEL_COM_DPDK"].split(",")
            info = json.loads(started.env["PCIDEVICE_INTEL_COM_DPDK_INFO"])
            groups = [info[i]["vfio"]["dev-mount"] for i in ids]
            assert ids == sorted(ids)
            assert {d["host"] for d in started.devices} == {"/dev/vfio/vfio", *groups}
            for i in ids:
                written = json.loads((node.devinfo / f"intel.com-dpdk-{i}-device.json").read_text(encoding="utf-8"))
                assert written["pci"]["pci-address"] == i
            assert len(list(node.devinfo.iterdir())) == 16
            code, seconds = await process.stop()
            assert (code, node.sockets()) == (0, [])
            assert seconds < 15  # a fraction of one on a machine that does nothing else

    run(story)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_everything_at_once(number: signal.Signals, node: Node) -> None:
    """Case I08; with streams open, and while a pool still waits for its kubelet."""
    h1().lay(node.root)
    node.configure(KERN)
    (node.directory / "device-plugins").mkdir()

    async def story() -> None:
        async with daemon(node.directory, *node.flags, "--registration=classic") as process:
            await process.until_told("not served yet")
            code, seconds = await process.stop(number)
            assert code == 0
            assert seconds < 15  # a fraction of one on a machine that does nothing else

    run(story)


def test_the_operators_command_line_is_taken(node: Node) -> None:
    """Facts consumers.md 5."""
    h1().lay(node.root)
    node.configure(KERN)

    async def story() -> None:
        async with (
            FakeKubelet(node.directory, timing=EAGER) as kubelet,
            daemon(
                node.directory,
                "--log-level=10",
                "--resource-prefix=openshift.io",
                f"--config-file={node.config}",
                f"--log-dir={node.directory / 'logs'}",
                "--use-cdi",
                environment={
                    "SRIOVDP_ROOT": str(node.root),
                    "SRIOVDP_KUBELET_DIR": str(node.directory),
                    "SRIOVDP_DEVINFO_DIR": str(node.devinfo),
                    "SRIOVDP_CDI_DIR": str(node.directory / "cdi"),
                },
            ) as process,
        ):
            await kubelet.wait_allocatable("openshift.io/kern", 4, 60)
            assert "serving" in (node.directory / "logs" / "sriovdp.log").read_text(encoding="utf-8")
            assert (await process.stop())[0] == 0

    run(story)


@pytest.mark.parametrize("pools", [(), (NOT_THERE,)])
def test_with_nothing_to_serve_the_daemon_stays_and_says_so_once(pools: tuple[dict[str, Any], ...], node: Node) -> None:
    """Case A09 (a), (c)."""
    h1().lay(node.root)
    node.configure(*pools)

    async def story() -> None:
        async with FakeKubelet(node.directory, timing=EAGER), daemon(node.directory, *node.flags) as process:
            await process.until_told("nothing to serve")
            await asyncio.sleep(0.3)
            assert process.process.returncode is None
            assert len(process.told("nothing to serve")) == 1
            assert (await process.stop())[0] == 0

    run(story)


@pytest.mark.parametrize(
    ("config", "flags", "said"),
    [
        ("{", (), "1:2: no JSON"),
        ('{"resourceList": [{"resourceName": "p", "selectors": {"pfNames": ["e#x"]}}]}', (), "1:67: "),
        (
            '{"resourceList": [{"resourceName": "p", "selectors": {"vendor": []}}]}',
            ("--strict",),
            "did you mean vendors?",
        ),
        (None, ("--strict",), "cannot be read: No such file or directory"),
        ("{}", ("--cofig-file=x",), "did you mean --config-file?"),
        ("{}", ("--log-level=11",), "--log-level=11: expected 0 to 10"),
        ("{}", ("--registration=both",), "--registration=both"),
    ],
)
def test_what_cannot_be_started_ends_with_2_and_the_reason(
    config: str | None, flags: tuple[str, ...], said: str, node: Node
) -> None:
    """Cases A09 (b), D23, D24."""
    if config is not None:
        node.config.write_text(config, encoding="utf-8")

    async def story() -> None:
        async with daemon(node.directory, *node.flags, *flags) as process:
            assert await asyncio.wait_for(process.process.wait(), 60) == 2
            assert said in process.text
            assert "Traceback" not in process.text

    run(story)


def test_help_names_every_setting(node: Node) -> None:
    async def story() -> None:
        async with daemon(node.directory, "--help") as process:
            assert await asyncio.wait_for(process.process.wait(), 60) == 0
            for flag in ("--config-file", "--resource-prefix", "--use-cdi", "--kubelet-host-dir", "SRIOVDP_STRICT"):
                assert flag in process.text

    run(story)


def test_a_restarted_daemon_writes_nothing_anew_and_offers_the_same(node: Node) -> None:
    """Cases B10, E11: with a pod's netdev away."""
    laid = h1().lay(node.root)
    node.configure(KERN)

    async def story() -> None:
        async with FakeKubelet(node.directory, timing=EAGER) as kubelet:
            async with daemon(node.directory, *node.flags) as first:
                await kubelet.wait_allocatable("intel.com/kern", 4, 60)
                assert (await kubelet.admit("pod", {"intel.com/kern": 1})).admitted
                await first.stop()
            laid.move_netdev_to_pod("0000:3b:01.0")
            before = {p.name: p.stat().st_ino for p in node.devinfo.iterdir()}
            async with daemon(node.directory, *node.flags) as second:
                await kubelet.wait_allocatable("intel.com/kern", 4, 60)
                assert {p.name: p.stat().st_ino for p in node.devinfo.iterdir()} == before
                await second.stop()

    run(story)


@pytest.mark.skipif(shutil.which("setpriv") is None or os.geteuid() != 0, reason="needs root and setpriv")
@pytest.mark.parametrize("way", ["watcher", "classic"])
def test_root_without_capabilities_serves_and_mends_directories_of_mode_0000(way: str, node: Node) -> None:
    """Case I04, facts/kubelet.md 9.5."""
    h1(driver="vfio-pci").lay(node.root)
    node.configure(DPDK)
    node.devinfo.mkdir(parents=True)
    for spoiled in (node.devinfo, node.devinfo.parent):
        spoiled.chmod(0)
    without = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]

    async def story() -> None:
        async with (
            FakeKubelet(node.directory, timing=EAGER, watcher=way == "watcher") as kubelet,
            daemon(node.directory, *node.flags, before=without) as process,
        ):
            await kubelet.wait_allocatable("intel.com/dpdk", 4, 60)
            assert (await kubelet.admit("pod", {"intel.com/dpdk": 4})).admitted
            assert (await process.stop())[0] == 0
        assert stat.S_IMODE(node.devinfo.stat().st_mode) == 0o755

    run(story)


def test_device_information_that_cannot_be_written_is_told_before_anything_is_announced(node: Node) -> None:
    """Case I04."""
    h1().lay(node.root)
    node.configure(KERN)
    node.devinfo.parent.write_text("in the way", encoding="utf-8")

    async def story() -> None:
        async with FakeKubelet(node.directory, timing=EAGER) as kubelet, daemon(node.directory, *node.flags) as process:
            await process.until_told("not reconciled")
            assert "this is a file, where a directory is needed" in process.told("not reconciled")[0]["reason"]
            assert kubelet.calls == []
            assert (await process.stop())[0] == 0

    run(story)


def test_the_log_has_a_line_for_each_change_and_no_lists(node: Node) -> None:
    """Case H05."""
    h1().lay(node.root)
    node.configure(KERN)

    async def story() -> None:
        async with FakeKubelet(node.directory, timing=EAGER) as kubelet, daemon(node.directory, *node.flags) as process:
            await kubelet.wait_allocatable("intel.com/kern", 4, 60)
            for n in range(20):
                assert (await kubelet.admit(f"pod-{n}", {"intel.com/kern": 1})).admitted
                await kubelet.terminate(f"pod-{n}")
            await process.stop()
            counted = {e["event"]: len(process.told(e["event"])) for e in process.events}
            assert counted.pop("allocated") == 20
            assert max(counted.values()) == 1
            assert max(map(len, process.text.splitlines())) < 250

    run(story)


def test_details_are_told_only_on_demand_and_warnings_always(node: Node) -> None:
    h1().lay(node.root)
    node.config.write_text(
        '{"resourceList": [{"resourceName": "kern", "selectors": {"vendors": ["0x8086"]}}]}', encoding="utf-8"
    )

    async def story() -> None:
        async with (
            FakeKubelet(node.directory, timing=EAGER),
            daemon(node.directory, *node.flags, "--log-level=0") as process,
        ):
            await process.until_told("configuration")
            await asyncio.sleep(0.2)
            assert {e["level"] for e in process.events} == {"warning"}
            assert "write 8086" in process.told("configuration")[0]["problem"]
            await process.stop()

    run(story)

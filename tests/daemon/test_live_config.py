"""Configurations that appear, change and break under a running daemon."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.live import CLASSIC, DPDK, KERN, WATCHER, live
from tests.daemon.quiet import Quiet
from tests.hosts.named import demo, h1, h2

WAYS = pytest.mark.parametrize("way", [WATCHER, CLASSIC])
LEFT: dict[str, Any] = {"resourceName": "left", "selectors": {"pfNames": ["ens1f0#0-1"], "drivers": ["vfio-pci"]}}
RIGHT: dict[str, Any] = {"resourceName": "right", "selectors": {"pfNames": ["ens1f0#2-3"], "drivers": ["vfio-pci"]}}


def test_a_missing_configuration_is_waited_for_and_said_once() -> None:
    """Case A09 (b), (d)."""

    async def story() -> None:
        async with live(h1(), KERN) as node:
            text = node.config.read_text(encoding="utf-8")
            node.config.unlink()
            process = await node.start()
            await process.until_told("no configuration yet")
            await process.until_minds(signal.SIGHUP)
            for _ in range(3):
                process.process.send_signal(signal.SIGHUP)
                await asyncio.sleep(0.3)
            assert process.process.returncode is None
            assert sum("No such file" in line for line in process.text.splitlines()) == 1
            assert node.kubelet.calls == []
            node.config.write_text(text, encoding="utf-8")
            await node.served("kern", 4)

    asyncio.run(story())


def test_a_directory_that_a_configuration_is_mounted_to_later_is_waited_for() -> None:
    """Case A09 (b), (d)."""

    async def story() -> None:
        async with live(h1(), KERN) as node:
            late = node.directory / "etc" / "pcidp"
            process = await node.start(f"--config-file={late / 'config.json'}")
            await process.until_told("no configuration yet")
            await asyncio.sleep(0.2)
            late.mkdir(parents=True)
            configmap(late, "a", KERN)
            await node.served("kern", 4)

    asyncio.run(story())


def test_an_empty_configuration_gets_its_pools_without_a_restart() -> None:
    """Case A09 (a), (d)."""

    async def story() -> None:
        async with live(h1()) as node:
            process = await node.start()
            await process.until_told("nothing to serve")
            node.configure(KERN)
            await node.served("kern", 4)
            node.configure()
            await node.until(lambda: node.sockets() == [])
            assert len(process.told("nothing to serve")) == 2

    asyncio.run(story())


@WAYS
def test_a_pool_taken_out_of_the_configuration_goes_with_everything_of_it(way: str) -> None:
    """Case A10."""

    async def story() -> None:
        async with live(h2(), LEFT, RIGHT, way=way) as node:
            await node.start("--use-cdi")
            await node.served("left", 2)
            await node.served("right", 2)
            assert await node.holds("pod", "right")
            streams, files = node.streams("right"), node.files()
            node.configure(RIGHT)
            await node.until(lambda: len(node.sockets()) == 1)
            assert node.lists("left")[-1].devices == ()
            assert node.kubelet.counts("intel.com/left") == (0, 0)
            await node.until(lambda: len(node.files()) == 2)
            assert node.files() == {n: inode for n, inode in files.items() if "right" in n}
            assert [p.name for p in (node.directory / "cdi").iterdir() if "left" in p.name] == []
            assert (node.streams("right"), len(node.lists("right"))) == (streams, 1)
            assert node.kubelet.is_registered("intel.com/right")

    asyncio.run(story())


def test_the_last_pool_taken_out_of_the_configuration_leaves_no_files() -> None:
    """Case A10."""

    async def story() -> None:
        async with live(h2(), LEFT) as node:
            await node.start("--use-cdi")
            await node.served("left", 2)
            node.configure()
            await node.until(lambda: node.sockets() == [])
            await node.until(lambda: node.files() == {})
            await node.until(lambda: list((node.directory / "cdi").iterdir()) == [])

    asyncio.run(story())


def test_a_renamed_pool_is_the_new_one_and_no_more_the_old_one() -> None:
    """Case A10."""

    async def story() -> None:
        async with live(h1(), KERN) as node:
            await node.start()
            await node.served("kern", 4)
            node.configure({**KERN, "resourceName": "renamed"})
            await node.served("renamed", 4)
            await node.until(lambda: len(node.sockets()) == 1)
            assert node.lists("kern")[-1].devices == ()
            await node.until(lambda: all(f.startswith("intel.com-renamed-") for f in node.files()))

    asyncio.run(story())


@WAYS
def test_a_swapped_configmap_changes_what_it_changes_and_nothing_else(way: str) -> None:
    """Case B06."""
    first, second = demo_pools("ens1f0#0-3", "ens2f0#0-1"), demo_pools("ens1f0#0-3", "ens2f0#0-3")

    async def story() -> None:
        async with live(demo(), way=way) as node:
            mounted = node.directory / "etc"
            mounted.mkdir()
            configmap(mounted, "a", *first)
            await node.start(f"--config-file={mounted / 'config.json'}")
            await node.served("same", 4)
            await node.served("wider", 2)
            configmap(mounted, "b", *second, DPDK)
            await node.served("dpdk", 8)
            await node.served("wider", 4)
            assert [node.streams(pool) for pool in ("same", "wider", "dpdk")] == [1, 1, 1]
            assert [len(node.lists(pool)) for pool in ("same", "wider", "dpdk")] == [1, 2, 1]
            async with Quiet(node, "same", "wider", "dpdk"):
                configmap(mounted, "c", *second, DPDK)  # the same content once more

    asyncio.run(story())


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ('{"resourceList": [\n  {"resourceName": "x", "selectors": {}},\n]}', ":2:41: no JSON: a comma before ]"),
        (
            json.dumps({"resourceList": [KERN, KERN]}, indent=1),
            ":12:20: resourceList[1].resourceName: intel.com/kern is a pool already, in line 4",
        ),
        ("", "the file is empty"),
        ('{"resourceList": [\n', ":2:1: no JSON"),
        (
            '{"resourceList": [5, {"resourceName": 7}]}',
            "resourceList[1].resourceName: expected a text in quotes, not 7",
        ),
        (None, "No such file or directory"),
    ],
    ids=["a trailing comma", "a name twice", "an empty file", "a part of a file", "two wrong types", "no file"],
)
def test_a_bad_configuration_changes_nothing_and_is_told_once_by_line_and_column(bad: str | None, said: str) -> None:
    """Case B07."""

    async def story() -> None:
        async with live(h1(), KERN) as node:
            process = await node.start()
            await node.served("kern", 4)
            async with Quiet(node, "kern"):
                if bad is None:
                    node.config.unlink()
                else:
                    node.config.write_text(bad, encoding="utf-8")
                await process.until_told("configuration rejected")
                process.process.send_signal(signal.SIGHUP)
            (told,) = process.told("configuration rejected")
            assert said in told["reason"]
            assert str(node.config) in told["reason"]
            assert told["pools_still_served"] == 1
            assert await node.holds("pod", "kern")
            node.configure(KERN, {**DPDK, "selectors": {"pfNames": ["ens1f0"]}})
            await process.until_told("configuration good again")
            assert node.streams("kern") == 1

    asyncio.run(story())


def test_strict_takes_a_doubtful_configuration_for_a_bad_one_on_a_reload_too() -> None:
    async def story() -> None:
        async with live(h1(), KERN) as node:
            process = await node.start("--strict")
            await node.served("kern", 4)
            async with Quiet(node, "kern"):
                node.configure({**KERN, "selectors": {"drivers": ["vfio-pci"], "vendor": ["8086"]}})
                await process.until_told("configuration rejected")
            assert "did you mean vendors?" in process.told("configuration rejected")[0]["reason"]

    asyncio.run(story())


def demo_pools(*pf_names: str) -> list[dict[str, Any]]:
    return [
        {"resourceName": pool, "selectors": {"pfNames": [ranges], "drivers": ["iavf"]}}
        for pool, ranges in zip(("same", "wider"), pf_names, strict=True)
    ]


def configmap(directory: Path, generation: str, *pools: dict[str, Any]) -> None:
    """As the kubelet does it (pkg/volume/util/atomic_writer.go): a new directory, then one rename of a link."""
    data = directory / f"..2026_{generation}"
    data.mkdir()
    (data / "config.json").write_text(json.dumps({"resourceList": pools}), encoding="utf-8")
    link = directory / "..data_tmp"
    link.symlink_to(data.name)
    before = (directory / "..data").readlink() if (directory / "..data").is_symlink() else None
    link.replace(directory / "..data")
    if before is None:
        (directory / "config.json").symlink_to("..data/config.json")
    else:
        for file in (directory / before).iterdir():
            file.unlink()
        (directory / before).rmdir()

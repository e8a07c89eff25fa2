"""Port ChangeFeed on files: the configuration and the tree of a host."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from adapters.config.config_feed import ConfigFeed
from adapters.sysfs.tree_feed import TreeFeed
from application.ports.change_feed import Change
from tests.contract.heard import listening, run
from tests.hosts.ground import temporary_directory
from tests.hosts.laid import LaidHost
from tests.hosts.named import h1

CONFIGURATION = {Change.CONFIGURATION}
HOST = {Change.HOST}


def swap(directory: Path, generation: int) -> None:
    """A mounted ConfigMap is updated."""
    data = directory / f"..{generation}"
    data.mkdir(parents=True)
    (data / "config.json").touch()
    (directory / "..data_tmp").symlink_to(data.name)
    (directory / "..data_tmp").replace(directory / "..data")


def test_a_configuration_that_is_written_replaced_removed_and_written_again_wakes_each_time(tmp_path: Path) -> None:
    path = tmp_path / "config.json"

    async def story() -> None:
        async with listening(ConfigFeed(path)) as heard:
            for content in ("a", "b"):
                assert await heard.after(lambda: path.write_text(content, encoding="utf-8")) == CONFIGURATION  # noqa: B023
            aside = tmp_path.parent / "aside"
            aside.touch()
            assert await heard.after(lambda: aside.replace(path)) == CONFIGURATION
            assert await heard.after(path.unlink) == CONFIGURATION
            assert await heard.after(path.touch) == CONFIGURATION

    run(story)


def test_every_swap_of_a_configmap_wakes(tmp_path: Path) -> None:
    """Case B06: also the third one, when the first directory is long gone."""

    async def story() -> None:
        swap(tmp_path, 0)
        (tmp_path / "config.json").symlink_to("..data/config.json")
        async with listening(ConfigFeed(tmp_path / "config.json")) as heard:
            for generation in range(1, 4):
                assert await heard.after(lambda: swap(tmp_path, generation)) == CONFIGURATION  # noqa: B023
            written = tmp_path / "..3" / "config.json"
            assert await heard.after(lambda: written.write_text("{}", encoding="utf-8")) == CONFIGURATION

    run(story)


def test_a_configuration_whose_directories_appear_later_wakes(tmp_path: Path) -> None:
    path = tmp_path / "etc" / "pcidp" / "config.json"

    async def story() -> None:
        async with listening(ConfigFeed(path)) as heard:
            assert await heard.after(path.parent.parent.mkdir) == CONFIGURATION
            assert await heard.after(path.parent.mkdir) == CONFIGURATION
            assert await heard.after(path.touch) == CONFIGURATION
            path.unlink()
            assert await heard.after(path.parent.rmdir) == CONFIGURATION
            assert await heard.after(path.parent.mkdir) == CONFIGURATION
            assert await heard.after(path.touch) == CONFIGURATION

    run(story)


def test_a_configuration_deep_in_a_configmap_wakes_at_every_swap(tmp_path: Path) -> None:
    """An item with a path of several parts: the link is above the directory of the file."""

    async def story() -> None:
        deep(tmp_path, 0)
        (tmp_path / "a").symlink_to("..data/a")
        async with listening(ConfigFeed(tmp_path / "a" / "b" / "config.json")) as heard:
            for generation in range(1, 3):
                assert await heard.after(lambda: deep(tmp_path, generation)) == CONFIGURATION  # noqa: B023

    def deep(directory: Path, generation: int) -> None:
        (directory / f"..{generation}" / "a" / "b").mkdir(parents=True)
        (directory / f"..{generation}" / "a" / "b" / "config.json").touch()
        (directory / "..data_tmp").symlink_to(f"..{generation}")
        (directory / "..data_tmp").replace(directory / "..data")

    run(story)


def test_a_configuration_that_is_a_link_to_itself_hurts_nobody(tmp_path: Path) -> None:
    (tmp_path / "config.json").symlink_to("config.json")

    async def story() -> None:
        async with listening(ConfigFeed(tmp_path / "config.json")) as heard:
            assert await heard.after((tmp_path / "config.json").unlink) == CONFIGURATION

    run(story)


VF = "0000:3b:01.1"


@pytest.mark.parametrize(
    "change",
    [
        lambda laid: laid.rebind(VF, "vfio-pci"),
        lambda laid: laid.rebind(VF, None),
        lambda laid: laid.remove_function(VF),
        lambda laid: laid.remove_vfs("0000:3b:00.0"),
        lambda laid: laid.set_carrier("ens1f0", False),
        lambda laid: laid.move_netdev_to_pod(VF),
        lambda laid: laid.uses.add_default_route("ens1f0", "192.0.2.1"),
        lambda laid: laid.tree.node("dev/vhost-net"),
    ],
    ids=["rebound", "unbound", "a VF gone", "all VFs gone", "carrier", "into a pod", "a route", "a node"],
)
def test_each_change_of_a_host_wakes(change: Callable[[LaidHost], object]) -> None:
    async def story() -> None:
        with temporary_directory() as root:
            laid = h1().lay(root)
            async with listening(TreeFeed(root)) as heard:
                assert await heard.after(lambda: change(laid)) == HOST

    run(story)


def test_what_appeared_later_is_followed_as_what_was_there_before() -> None:
    async def story() -> None:
        with temporary_directory() as root:
            laid = h1(vfs=0).lay(root)
            async with listening(TreeFeed(root)) as heard:
                assert await heard.after(lambda: laid.create_vfs("0000:3b:00.0", 4)) == HOST
                assert await heard.after(lambda: laid.set_carrier("ens1f0v3", False)) == HOST
                assert await heard.after(lambda: laid.remove_vfs("0000:3b:00.0")) == HOST
                assert await heard.after(lambda: laid.create_vfs("0000:3b:00.0", 2)) == HOST
                assert await heard.after(lambda: laid.set_carrier("ens1f0v1", False)) == HOST

    run(story)


def test_a_directory_made_while_its_parent_is_looked_through_is_followed_too(mocker: MockerFixture) -> None:
    async def story() -> None:
        with temporary_directory() as root:
            h1().lay(root)
            late = root / "sys" / "new" / "late"
            walk = os.walk

            def slow(top: str) -> Iterator[tuple[str, list[str], list[str]]]:
                for found in walk(top):
                    if found[0] == str(late.parent):
                        late.mkdir()
                    yield found

            mocker.patch("adapters.sysfs.tree_feed.os.walk", slow)
            async with listening(TreeFeed(root)) as heard:
                assert await heard.after(late.parent.mkdir) == HOST
                assert late.is_dir()
                assert await heard.after((late / "file").touch) == HOST

    run(story)


def test_a_host_without_directories_hurts_nobody(tmp_path: Path) -> None:
    async def story() -> None:
        async with listening(TreeFeed(tmp_path)) as heard:
            assert await heard.nothing_after(lambda: None)

    run(story)

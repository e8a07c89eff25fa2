"""Port DeviceUse before a kubelet that lives, is young, is away, and one whose pod-resources is not mounted."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from adapters.kubelet.publisher import KubeletPaths, KubeletPublisher, Registration
from domain.announcement import Announced, Holding
from domain.exposure import Grant
from domain.resource_name import ResourceName
from entrypoints.container import device_use
from tests.fakes.device_use import FakeDeviceUse
from tests.fakes.journal import FakeJournal
from tests.fakes.kubelet import Container, FakeKubelet

P = ResourceName("intel.com", "p")
OTHER = ResourceName("intel.com", "qat")
IDS = ["0000:3b:01.0", "0000:3b:01.1"]
HELD = frozenset(Holding(P, id_) for id_ in IDS)


async def _grants(resource: ResourceName, containers: Sequence[Sequence[str]]) -> Sequence[Grant]:
    """As this plugin answers; and as one of another kind does that shares its resource prefix."""
    variables = {P: P.variable, OTHER: "QAT0"}
    return [Grant({variables[resource]: ",".join(ids)}) for ids in containers]


def play(
    directory: Path,
    story: Callable[[FakeKubelet], Awaitable[None]],
    resource: ResourceName = P,
    *,
    settled: bool = True,
    app: int = 2,
    init: int = 0,
    after: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """A story on a node with a pod whose containers hold both devices."""

    async def run() -> None:
        async with FakeKubelet(directory, settled=settled) as kubelet:
            paths = KubeletPaths(directory, directory)
            publisher = KubeletPublisher(paths, Registration.AUTO, _grants, FakeJournal())
            await publisher.publish(resource, [Announced(id_) for id_ in IDS])
            await kubelet.wait_allocatable(str(resource), 2, 20.0)
            helper = [Container("init", {str(resource): init})] if init else []
            assert (await kubelet.admit("pod-a", {str(resource): app} if app else {}, init=helper)).admitted
            await story(kubelet)
            if after:
                await publisher.publish(resource, [Announced(id_, fault="gone") for id_ in IDS])
                await kubelet.wait_allocatable(str(resource), 0, 20.0)
                await after()
            await publisher.stop()

    asyncio.run(run())


def test_a_kubelet_that_knows_its_pods_has_the_last_word(short_path: Path) -> None:
    async def story(kubelet: FakeKubelet) -> None:
        use = device_use(short_path, FakeJournal())
        assert await use.holdings() == HELD
        await kubelet.terminate("pod-a")
        assert await use.holdings() == frozenset()
        assert not use.doubtful

    play(short_path, story)


def test_what_an_init_container_alone_has_is_held_and_looked_at_until_the_kubelet_writes_anew(short_path: Path) -> None:
    """Facts/kubelet.md 1.4: pod-resources does not list it; and it is asked before its notes lose a pod that ended."""
    use = device_use(short_path, FakeJournal())

    async def story(kubelet: FakeKubelet) -> None:
        assert await use.holdings() == HELD
        assert use.doubtful == HELD
        await kubelet.terminate("pod-a")
        assert await use.holdings() == use.doubtful == HELD

    async def once_a_list_has_changed() -> None:
        assert await use.holdings() == use.doubtful == frozenset()

    play(short_path, story, app=0, init=2, after=once_a_list_has_changed)


def test_what_an_init_container_has_of_a_pod_that_is_told_of_is_held_for_sure(short_path: Path) -> None:
    """And given back with the pod, though the notes still have it."""

    async def story(kubelet: FakeKubelet) -> None:
        use = device_use(short_path, FakeJournal())
        assert await use.holdings() == HELD
        assert use.doubtful == frozenset()
        await kubelet.terminate("pod-a")
        assert await use.holdings() == use.doubtful == frozenset()

    play(short_path, story, app=1, init=2)


def test_a_kubelet_that_has_just_started_may_not_know_all_pods_yet(short_path: Path) -> None:
    """Facts/kubelet.md 1.4: since 1.34 it lists active pods, and those it has not heard of are none."""

    async def story(kubelet: FakeKubelet) -> None:
        await kubelet.terminate("pod-a")
        assert await device_use(short_path, FakeJournal()).holdings() == HELD

    play(short_path, story, settled=False)


def test_a_kubelet_that_lists_no_pod_at_all_is_not_believed(short_path: Path) -> None:
    """The plugin's own pod would be in the list."""

    async def story(kubelet: FakeKubelet) -> None:
        await kubelet.terminate("pod-a")
        os.utime(kubelet.kubelet_socket, (0, 0))  # and not because it is young
        use = device_use(short_path, FakeJournal())
        assert await use.holdings() == HELD
        assert not use.doubtful

    play(short_path, story, settled=False)


def test_while_the_kubelet_is_away_its_notes_tell(short_path: Path) -> None:
    """Cases B02, B10."""

    async def story(kubelet: FakeKubelet) -> None:
        await kubelet.kill()
        use = device_use(short_path, FakeJournal())
        assert await use.holdings() == HELD
        assert not use.doubtful, "nothing has changed since"

    play(short_path, story)


def test_where_pod_resources_is_not_mounted_its_notes_tell(short_path: Path) -> None:
    """Facts/consumers.md 5: the operator's manifest mounts device-plugins and not pod-resources."""

    async def story(kubelet: FakeKubelet) -> None:
        (short_path / "pod-resources" / "kubelet.sock").unlink()
        use = device_use(short_path, FakeJournal())
        assert await use.holdings() == HELD
        assert use.doubtful == HELD

    play(short_path, story)


def test_nobody_can_tell_without_both(short_path: Path) -> None:
    assert asyncio.run(device_use(short_path, FakeJournal()).holdings()) is None
    assert asyncio.run(FakeDeviceUse(None).holdings()) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[]",
        '{"Data": null}',
        '{"Data": {"PodDeviceEntries": 3}}',
        '{"Data": {"PodDeviceEntries": [{"ResourceName": "a.b/c", "DeviceIDs": ["x"], "AllocResp": ""}]}}',
        '{"Data": {"PodDeviceEntries": [{"ResourceName": "a.b/c", "DeviceIDs": {}, "AllocResp": "%%%"}]}}',
        '{"Data": {"PodDeviceEntries": [{"ResourceName": "a.b/c", "DeviceIDs": {}, "AllocResp": "AAAA"}]}}',
    ],
)
def test_notes_that_cannot_be_read_tell_nothing_and_that_is_said_once(text: str, short_path: Path) -> None:
    """Case H05."""
    (short_path / "device-plugins").mkdir()
    (short_path / "device-plugins" / "kubelet_internal_checkpoint").write_text(text, encoding="utf-8")
    journal = FakeJournal()
    use = device_use(short_path, journal)

    assert [asyncio.run(use.holdings()) for _ in range(3)] == [None] * 3
    assert asyncio.run(use.granted()) == frozenset()
    (told,) = journal.told("checkpoint unreadable")
    assert "kubelet_internal_checkpoint" in str(told)


def test_a_resource_that_this_plugin_handed_out_is_known_as_its_own(short_path: Path) -> None:
    async def story(kubelet: FakeKubelet) -> None:
        assert await device_use(short_path, FakeJournal()).granted() == frozenset({P})

    play(short_path, story)


def test_a_resource_of_another_plugin_with_the_same_prefix_is_not(short_path: Path) -> None:
    async def story(kubelet: FakeKubelet) -> None:
        use = device_use(short_path, FakeJournal())
        assert await use.holdings() == frozenset(Holding(OTHER, id_) for id_ in IDS)
        assert await use.granted() == frozenset()

    play(short_path, story, OTHER)


def test_names_that_are_no_extended_resources_are_passed_over(short_path: Path) -> None:
    (short_path / "device-plugins").mkdir()
    entries = [
        {"ResourceName": "odd", "DeviceIDs": {"-1": ["x"]}, "AllocResp": ""},
        {"ResourceName": "intel.com/p", "DeviceIDs": {"0": [IDS[0]], "1": [IDS[0]], "2": None}, "AllocResp": None},
    ]
    text = json.dumps({"Data": {"PodDeviceEntries": entries}, "Checksum": 1})
    (short_path / "device-plugins" / "kubelet_internal_checkpoint").write_text(text, encoding="utf-8")

    assert asyncio.run(device_use(short_path, FakeJournal()).holdings()) == frozenset({Holding(P, IDS[0])})

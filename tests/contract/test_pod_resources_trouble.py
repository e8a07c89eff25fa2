"""Port DeviceUse when the kubelet does not answer."""

import asyncio
import socket
from pathlib import Path

from adapters.kubelet.pod_resources import PodResources
from entrypoints.container import device_use
from tests.fakes.journal import FakeJournal
from tests.fakes.kubelet import EAGER, FakeKubelet


def test_a_dead_socket_is_nobody_who_can_tell_and_is_told_once_while_it_lasts(short_path: Path) -> None:
    """Case H05: it is asked at each look, as often as every few seconds."""

    async def story() -> None:
        journal = FakeJournal()
        use = PodResources(short_path, journal)
        (short_path / "pod-resources").mkdir()
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(short_path / "pod-resources" / "kubelet.sock"))
        for _ in range(3):
            assert await use.holdings() is None
        assert len(journal.told("pod resources unknown")) == 1
        async with FakeKubelet(short_path, timing=EAGER):
            assert await use.holdings() == frozenset()
        assert await use.holdings() is None
        assert len(journal.told("pod resources unknown")) == 2

    asyncio.run(story())


def test_as_many_questions_as_a_kubelet_answers_in_no_second_are_answered_all_the_same(short_path: Path) -> None:
    """Facts/kubelet.md 8.13: it refuses most of them at first."""

    async def story() -> None:
        journal = FakeJournal()
        use = PodResources(short_path, journal)
        async with FakeKubelet(short_path, timing=EAGER):
            answers = await asyncio.gather(*(use.holdings() for _ in range(20)))
        assert answers == [frozenset()] * 20
        assert journal.events == []

    asyncio.run(story())


def test_a_socket_that_may_not_be_looked_at_is_none_and_is_told_once_with_its_path(short_path: Path) -> None:
    """Case H05. A name too long stands for whatever fails there as root, too: SELinux, a stale mount."""
    journal = FakeJournal()
    (short_path / "pod-resources").symlink_to("x" * 300)
    (short_path / "device-plugins").mkdir()
    notes = short_path / "device-plugins" / "kubelet_internal_checkpoint"
    notes.write_text('{"Data": {"PodDeviceEntries": null}}', encoding="utf-8")
    use = device_use(short_path, journal)

    assert [asyncio.run(use.holdings()) for _ in range(3)] == [frozenset()] * 3
    (told,) = journal.told("pod resources unknown")
    assert told["code"] == "ENAMETOOLONG"
    assert str(short_path / "pod-resources" / "kubelet.sock") in told["reason"]

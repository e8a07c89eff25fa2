"""Configurations that the loop takes over, rejects and waits for."""

import asyncio
import threading

from application.following import Pace
from application.ports.change_feed import Change
from application.ports.pool_configuration import Configuration, ConfigurationInvalid, ConfigurationMissing, Problem
from tests.unit.application.loop import NEVER, A, B, Loop


def rejected(message: str) -> ConfigurationInvalid:
    return ConfigurationInvalid("c.json", [Problem("", 1, 2, message)])


def test_a_bad_configuration_keeps_the_last_good_one_and_is_told_once() -> None:
    """Case B07."""
    loop = Loop(Pace(quiet=0.01, patience=0.02, timer=NEVER, rest=0))

    async def story() -> None:
        await loop.until(1)
        loop.file.content = rejected("no JSON")
        for _ in range(3):
            await loop.reload()
        loop.file.content = rejected("something else")
        await loop.reload()
        loop.file.content = rejected("no JSON")
        await loop.reload()
        assert all(tuple(pools) == (A,) for pools in loop.looks.pools)
        loop.file.content = Configuration((B,))
        await loop.reload()
        assert loop.looks.pools[-1] == (B,)
        await loop.reload()

    loop.run(story)
    told = [facts["reason"] for facts in loop.journal.told("configuration rejected")]
    assert told == ["c.json:1:2: no JSON", "c.json:1:2: something else", "c.json:1:2: no JSON"]
    assert loop.journal.told("configuration rejected")[0]["pools_still_served"] == 1
    assert len(loop.journal.told("configuration good again")) == 1
    assert loop.journal.told("configuration taken over") == [{"pools": 1}]


def test_a_fault_in_reading_keeps_the_last_good_one_and_is_told_once_with_its_trace() -> None:
    """Case B07: no edit may end the daemon, whatever it meets."""
    loop = Loop(Pace(quiet=0.01, patience=0.02, timer=NEVER, rest=0))

    async def story() -> None:
        await loop.until(1)
        loop.file.content = KeyError(1)
        await loop.reload()
        await loop.reload()
        assert loop.following.rejected == "a fault of the plugin: KeyError: 1"
        loop.file.content = Configuration((B,))
        await loop.reload()
        assert loop.looks.pools == [(A,), (A,), (A,), (B,)]

    loop.run(story)
    reason = "a fault of the plugin: KeyError: 1"
    told = loop.journal.told("configuration rejected")
    assert told == [{"reason": reason, "pools_still_served": 1, "exc_info": True}]
    assert len(loop.journal.told("configuration good again")) == 1


def test_a_slow_file_is_read_beside_the_loop() -> None:
    """Calls of the kubelet are answered meanwhile."""
    loop = Loop(Pace(quiet=0.01, patience=0.02, timer=NEVER, rest=0))
    reading, answered = threading.Event(), threading.Event()

    def load() -> Configuration:
        reading.set()
        assert answered.wait(30), "the loop stood still while the file was read"
        return Configuration((B,))

    async def story() -> None:
        await loop.until(1)
        loop.file.load = load  # type: ignore[method-assign]
        loop.following.wake(Change.CONFIGURATION)
        while not reading.is_set():
            await asyncio.sleep(0.005)
        answered.set()
        await loop.until(2)
        assert loop.looks.pools[-1] == (B,)

    loop.run(story)


def test_a_configuration_that_says_the_same_is_not_told() -> None:
    loop = Loop(Pace(quiet=0.01, patience=0.02, timer=NEVER, rest=0))

    async def story() -> None:
        await loop.until(1)
        loop.following.wake(Change.CONFIGURATION)
        await loop.until(2)
        assert loop.file.loads == 1

    loop.run(story)
    assert loop.journal.events == []


def test_without_a_configuration_it_is_waited_for_and_then_followed() -> None:
    """Case A09 (b), (d): no pool is touched meanwhile."""
    loop = Loop(Pace(quiet=0.01, patience=0.02, timer=NEVER, blind_timer=0.05, rest=0))
    missing = ConfigurationMissing("c.json", [Problem("", 0, 0, "cannot be read: No such file or directory")])
    loop.file.content = missing

    async def story() -> None:
        while loop.file.loads < 2:
            loop.following.wake(Change.CONFIGURATION)
            await asyncio.sleep(0.02)
        loop.file.content = Configuration((A,))
        loop.following.wake(Change.CONFIGURATION)
        while not loop.looks.pools or loop.looks.pools[-1] != (A,):
            await asyncio.sleep(0.005)

    loop.run(story, missing)
    assert all(not pools or tuple(pools) == (A,) for pools in loop.looks.pools)
    assert loop.journal.told("configuration rejected") == []


def test_a_warning_is_told_when_it_comes_whatever_else_changed() -> None:
    """Case D24: a misspelt key changes no pool."""
    loop = Loop(Pace(quiet=0.01, patience=0.02, timer=NEVER, rest=0))
    first, second = (Problem("resourceList[0].driverz", 3, 5, m) for m in ("unknown key", "another"))

    async def reload(*warnings: Problem) -> None:
        looks = len(loop.looks.times)
        loop.file.content = Configuration((A,), warnings)
        loop.following.wake(Change.CONFIGURATION)
        await loop.until(looks + 1)

    async def story() -> None:
        await loop.until(1)
        await reload(first)
        await reload(first)
        await reload(first, second)
        await reload(first)

    loop.run(story)
    assert [told["problem"] for told in loop.journal.told("configuration")] == [str(first), str(second)]
    assert loop.journal.told("configuration taken over") == []


def test_an_edit_that_nothing_tells_of_is_found_on_a_host_that_is_never_quiet() -> None:
    """Case B06: inotify knows nothing of some file systems, nor of a file that is mounted by itself."""
    loop = Loop(Pace(quiet=0.005, patience=0.01, timer=0.2, rest=0))

    async def story() -> None:
        await loop.until(1)
        loop.file.content = Configuration((B,))
        while loop.looks.pools[-1] != (B,):
            loop.following.wake(Change.HOST)
            await asyncio.sleep(0.02)

    loop.run(story)
    assert len(loop.journal.told("configuration taken over")) == 1

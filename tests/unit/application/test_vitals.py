"""What is said of the process."""

import pytest

from application.ports.change_feed import Change
from application.ports.pool_configuration import Configuration
from application.vitals import STUCK_AFTER, Answer
from domain.errors import FilesUnwritable
from domain.resource_name import ResourceName
from tests.unit.application.loop import NEVER, A
from tests.unit.application.patient import MISSING, Patient

KERN, DPDK = ResourceName("intel.com", "kern"), ResourceName("intel.com", "dpdk")


def test_a_look_that_goes_on_for_too_long_is_not_alive_and_one_that_ends_is() -> None:
    """Case A12 (3)."""
    patient = Patient()
    patient.loop.looks.takes = NEVER

    async def story() -> None:
        await patient.loop.until(1)
        patient.ahead = STUCK_AFTER - 10
        assert patient.vitals.live() == Answer(True, ("live", "a look at the host has been going on for 110 s"))
        patient.ahead = STUCK_AFTER + 5
        stuck = "a look at the host has been going on for 125 s, at most 120 s were expected"
        assert patient.vitals.live() == Answer(False, ("not live", stuck))

    patient.loop.run(story)
    assert patient.vitals.live() == Answer(True, ("live",))


@pytest.mark.parametrize("error", [None, FilesUnwritable("devinfo", "full", "free space"), ZeroDivisionError("odd")])
def test_between_looks_any_time_may_pass(error: Exception | None) -> None:
    patient = Patient()
    patient.loop.looks.error = error

    async def story() -> None:
        await patient.looked()
        patient.ahead = 10 * STUCK_AFTER
        assert patient.vitals.live() == Answer(True, ("live",))

    patient.loop.run(story)


def test_a_look_that_binds_many_functions_is_alive_as_long_as_it_gets_on() -> None:
    patient = Patient()
    patient.loop.looks.takes = NEVER

    async def story() -> None:
        await patient.loop.until(1)
        patient.ahead = STUCK_AFTER + 5
        patient.recovery.progressed = patient.clock()
        assert patient.vitals.live().good
        patient.ahead += STUCK_AFTER + 1
        assert not patient.vitals.live().good

    patient.loop.run(story)


def test_nobody_is_ready_before_the_first_look_is_over() -> None:
    patient = Patient()
    patient.loop.looks.takes = NEVER

    async def story() -> None:
        await patient.loop.until(1)
        assert patient.vitals.ready() == Answer(False, ("not ready", "the host was not looked at yet"))
        assert patient.vitals.live().good

    patient.loop.run(story)


def test_each_pool_that_no_kubelet_listens_to_is_named() -> None:
    """Case A12 (1), (2), (4)."""
    patient = Patient()

    async def story() -> None:
        await patient.looked()
        patient.contact.pools = {KERN: None, DPDK: None}
        assert patient.vitals.ready() == Answer(True, ("ready",))
        patient.contact.pools = {KERN: None, DPDK: 12.3}
        late = "intel.com/dpdk: no kubelet has listened for 12 s"
        assert patient.vitals.ready() == Answer(False, ("not ready", late))
        patient.contact.pools = {KERN: 1.0, DPDK: 1000.0}
        assert len(patient.vitals.ready().lines) == 3
        assert patient.vitals.live() == Answer(True, ("live",))

    patient.loop.run(story)


def test_who_has_nothing_to_serve_is_ready() -> None:
    patient = Patient()

    async def story() -> None:
        await patient.looked()
        assert patient.vitals.ready() == Answer(True, ("ready", "nothing to serve: no pool has a device"))

    patient.loop.run(story)


def test_who_waits_for_a_configuration_is_ready_and_says_so() -> None:
    patient = Patient()
    patient.loop.file.content = MISSING

    async def story() -> None:
        await patient.looked()
        said = patient.vitals.ready()
        assert said.good
        assert said.lines[1:] == (f"configuration rejected: {MISSING}", "nothing to serve: no pool has a device")
        patient.loop.file.content = Configuration((A,))
        patient.loop.following.wake(Change.CONFIGURATION)
        await patient.loop.until(2)
        await patient.no_look()
        patient.contact.pools = {KERN: None}
        assert patient.vitals.ready() == Answer(True, ("ready",))

    patient.loop.run(story, MISSING)


def test_an_edit_that_is_bad_is_told_and_leaves_the_pools_ready() -> None:
    """A rollout replaces pods that are not ready all at once, by pods that would refuse the file at their start."""
    patient = Patient()

    async def story() -> None:
        await patient.looked()
        patient.contact.pools = {KERN: None}
        patient.loop.file.content = MISSING
        patient.loop.following.wake(Change.CONFIGURATION)
        await patient.loop.until(2)
        assert patient.vitals.ready() == Answer(True, ("ready", f"configuration rejected: {MISSING}"))

    patient.loop.run(story)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FilesUnwritable("devinfo", "No space left on device", "free space"), "No space left on device"),
        (ZeroDivisionError("odd"), "a fault of the plugin: ZeroDivisionError: odd"),
    ],
)
def test_after_a_look_that_failed_nobody_is_ready_until_one_is_good(error: Exception, said: str) -> None:
    """So a rollout of a plugin that can do nothing does not go on."""
    patient = Patient()
    patient.loop.looks.error = error

    async def story() -> None:
        await patient.looked()
        patient.contact.pools = {KERN: None}
        answer = patient.vitals.ready()
        assert (answer.good, len(answer.lines)) == (False, 2)
        assert said in answer.lines[1]
        patient.loop.looks.error = None
        patient.loop.following.wake(Change.HOST)
        await patient.loop.until(2)
        await patient.no_look()
        assert patient.vitals.ready() == Answer(True, ("ready",))

    patient.loop.run(story)

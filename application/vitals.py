"""Is this process alive, and does the node get what it has? For whoever watches over the process."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Final

from application.following import Following
from application.ports.kubelet import KubeletContact
from application.recovery import DriverRecovery

STUCK_AFTER: Final = 120.0
"""Seconds without progress after which a look at the host is stuck. It takes a second on a large node, and has to wait
while a driver resets its card, which may take a minute. A task that waits this long even the kernel calls hung
(kernel.hung_task_timeout_secs)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Yes or no, and for people why."""

    good: bool
    lines: tuple[str, ...]


class Vitals:
    """Alive is whoever gets on, whatever the kubelet does. Ready is who has all of its pools known to a kubelet."""

    def __init__(
        self,
        following: Following,
        recovery: DriverRecovery,
        contact: KubeletContact,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._following = following
        self._recovery = recovery
        self._contact = contact
        self._clock = clock

    def live(self) -> Answer:
        """Whether the loop gets on. That it answers at all tells that the event loop does."""
        began = self._following.looking_since
        if began is None:
            return Answer(True, ("live",))
        # Binding a hundred functions takes minutes, and each of them is progress.
        seconds = self._clock() - max(began, self._recovery.progressed)
        going_on = f"a look at the host has been going on for {seconds:.0f} s"
        if seconds > STUCK_AFTER:
            return Answer(False, ("not live", f"{going_on}, at most {STUCK_AFTER:g} s were expected"))
        return Answer(True, ("live", going_on))

    def ready(self) -> Answer:
        """Whether all that the host and the last good configuration have is offered to a kubelet that listens.

        An edit that is bad is told, and is no reason not to be ready: pools go on, and the rollout of a DaemonSet
        replaces pods that are not ready all at once, by pods that would refuse the same file at their start.
        """
        unheard = self._contact.unheard()
        missing = [f"{pool}: no kubelet has listened for {s:.0f} s" for pool, s in unheard.items() if s is not None]
        if self._following.trouble:
            missing.insert(0, self._following.trouble)
        remarks = [f"configuration rejected: {self._following.rejected}"] if self._following.rejected else []
        if not unheard and not missing:
            remarks.append("nothing to serve: no pool has a device")
        return Answer(not missing, ("not ready" if missing else "ready", *missing, *remarks))

"""One question to netlink, whose answer is kept for the times when there is none."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from adapters.files.shortage import check_shortage
from application.ports.journal import Journal

Key = TypeVar("Key")
Value = TypeVar("Value")


class Incomplete(Exception):
    """An answer broke off."""

    def __init__(self, reason: str, told: Mapping[Any, Any]) -> None:
        super().__init__(reason)
        self.told = told
        """What came before; it counts."""


class Question(Generic[Key, Value]):
    """Asked at each look. One that fails tells nothing of the host, so the last answer counts until the next one.

    An ice PF that is being reset answers devlink with an error, and a full buffer is one of rtnetlink: without the last
    answer devices would go from their pool to others, and back.
    """

    def __init__(self, question: Callable[[], Mapping[Key, Value]], about: str, journal: Journal) -> None:
        self._question = question
        self._about = about
        self._journal = journal
        self._last: Mapping[Key, Value] | None = None
        self._said = False

    def ask(self) -> Mapping[Key, Value]:
        """The answer, else the last one, else nothing; a failure is said once until there is an answer again.

        Raises:
            HostUnreadable: for a shortage of files or memory here.
        """
        try:
            self._last = self._question()
            self._said = False
        except Incomplete as error:
            self._last = {**(self._last or {}), **error.told}
            self._tell(error)
        except OSError as error:
            check_shortage(error)
            self._tell(error)
        except Exception as error:  # noqa: BLE001 - pyroute2 raises what it meets; the host is served all the same
            self._tell(error)
        return self._last or {}

    def _tell(self, error: Exception) -> None:
        if self._said:
            return
        self._said = True
        kept = "match nothing" if self._last is None else "are those that were told last"
        consequence = f"{self._about} {kept}"
        self._journal.warning("netlink gives no answer", reason=f"{error!r}", consequence=consequence)

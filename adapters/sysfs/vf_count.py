"""How many VFs a PF has, told without waiting for whoever is changing that."""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock, Thread
from time import monotonic
from typing import Final

from adapters.sysfs.tree import Tree
from domain.errors import HostUnreadable

LIMIT: Final = 0.2
"""Seconds that a look at the host spends on a PF that does not answer, once."""

_ATTRIBUTE: Final = "sriov_numvfs"


@dataclass(frozen=True, slots=True)
class _Reading:
    began: float = field(default_factory=monotonic)
    answer: Future[int] = field(default_factory=Future)


class VfCounts:
    """The number of VFs of each PF, by the PF's directory.

    In kernels from the end of 2019 to February 2024 reading ``sriov_numvfs`` takes the PF's device lock (Linux commit
    35ff867b7657, reverted since). Who removes VFs holds it until they are let go of, which a vfio user may never do. So
    the links to the VFs are counted where there are any, and the attribute is read on a thread that may be left
    hanging, one a PF at most.
    """

    def __init__(self, tree: Tree, limit: float = LIMIT) -> None:
        self._tree = tree
        self._limit = limit
        self._lock = Lock()
        self._readings: dict[str, _Reading] = {}
        self._known: dict[str, int] = {}

    def count(self, path: str, names: Sequence[str]) -> int:
        """The number of VFs of the function at a directory, given the names in it; 0 if it is no PF.

        Of a PF that does not answer it is the number known last, and 1 if none is known: it may have VFs, and what has
        VFs is no device to hand out.

        Raises:
            HostUnreadable: if this process is short of files, memory or threads.
        """
        links = sum(name.startswith("virtfn") for name in names)
        if not links and _ATTRIBUTE not in names:
            return 0
        number = links or self._read(path)
        if number is None:
            return self._known.get(path, 1)
        self._known[path] = number
        return number

    def _read(self, path: str) -> int | None:
        """What the attribute says, 0 if that is no number; None while it does not answer."""
        with self._lock:
            reading = self._readings.get(path)
            if reading is None or reading.answer.done():
                reading = self._readings[path] = self._begin(path)
        try:
            return reading.answer.result(max(0.0, reading.began + self._limit - monotonic()))
        except TimeoutError:
            return None

    def _begin(self, path: str) -> _Reading:
        reading = _Reading()
        try:
            Thread(target=self._answer, args=(path, reading.answer), name=f"VFs of {path}", daemon=True).start()
        except RuntimeError as error:
            raise HostUnreadable(f"{path}/{_ATTRIBUTE}", str(error)) from error
        return reading

    def _answer(self, path: str, answer: Future[int]) -> None:
        try:
            answer.set_result(max(0, self._tree.number(f"{path}/{_ATTRIBUTE}") or 0))
        except HostUnreadable as error:
            answer.set_exception(error)

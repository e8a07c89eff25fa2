"""What ends a run of the model."""

from collections.abc import Sequence


class Broken(AssertionError):
    """An invariant does not hold; with what led there."""

    def __init__(self, faults: Sequence[str], story: Sequence[str], log: Sequence[str] = ()) -> None:
        self.faults = tuple(faults)
        self._story = tuple(story)
        self._log = tuple(log)
        super().__init__(self.last(len(self._story)))

    def last(self, steps: int) -> str:
        """What is wrong, so many last steps, and what the daemon said."""
        lines = ["an invariant does not hold:", *(f"  {fault}" for fault in self.faults)] if self.faults else []
        lines += ["what was done:", *(f"  {step}" for step in self._story[-steps:])]
        if self._log:
            lines += ["what the daemon said last:", *(f"  {entry}" for entry in self._log)]
        return "\n".join(lines)

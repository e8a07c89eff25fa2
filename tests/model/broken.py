"""What ends a run of the model."""

from collections.abc import Sequence


class Broken(AssertionError):
    """An invariant does not hold; with what led there."""

    def __init__(self, faults: Sequence[str], story: Sequence[str], log: Sequence[str] = ()) -> None:
        self.faults = tuple(faults)
        lines = ["an invariant does not hold:", *(f"  {f}" for f in faults)]
        lines += ["what was done:", *(f"  {s}" for s in story)]
        if log:
            lines += ["what the daemon said last:", *(f"  {entry}" for entry in log)]
        super().__init__("\n".join(lines))

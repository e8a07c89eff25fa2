"""What was done in a soak."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """Numbers of steps by kind, and of what was looked at."""

    steps: Counter[str] = field(default_factory=Counter)
    settled: int = 0
    messages: int = 0
    restarts: int = 0
    starts: int = 0
    cpu: float = 0.0

"""What a command says beside its answer."""

import sys
from typing import Any


class Aside:
    """Warnings as lines on standard error (port Journal): the answer on standard output stays whole."""

    def debug(self, event: str, **facts: Any) -> None: ...

    def info(self, event: str, **facts: Any) -> None: ...

    def warning(self, event: str, **facts: Any) -> None:
        print("sriovdp", event, *facts.values(), sep=": ", file=sys.stderr)

    error = warning

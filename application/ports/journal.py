"""Where state changes are told to people."""

from typing import Any, Protocol


class Journal(Protocol):
    """Takes one event at a time, with its facts; never blocks, never raises."""

    def debug(self, event: str, **facts: Any) -> Any: ...

    def info(self, event: str, **facts: Any) -> Any: ...

    def warning(self, event: str, **facts: Any) -> Any: ...

    def error(self, event: str, **facts: Any) -> Any: ...

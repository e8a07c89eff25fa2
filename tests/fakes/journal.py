"""Port Journal that keeps what it was told."""

from typing import Any


class FakeJournal:
    """Events in order: level, event and facts."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str, dict[str, Any]]] = []

    def debug(self, event: str, **facts: Any) -> None:
        self.events.append(("debug", event, facts))

    def info(self, event: str, **facts: Any) -> None:
        self.events.append(("info", event, facts))

    def warning(self, event: str, **facts: Any) -> None:
        self.events.append(("warning", event, facts))

    def error(self, event: str, **facts: Any) -> None:
        self.events.append(("error", event, facts))

    def told(self, event: str) -> list[dict[str, Any]]:
        """The facts of each such event."""
        return [facts for _, name, facts in self.events if name == event]

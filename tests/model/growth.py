"""Whether anything of a daemon grows while it does the same."""

from collections.abc import Iterator, Mapping
from typing import Final

#: What may be on its way at any moment: calls, channels that are being closed; and the tasks of one server, which may
#: have ended when the kubelet still counts its stream.
_SLACK: Final = 14


class Growth:
    """The least that was seen for each number of streams."""

    def __init__(self) -> None:
        self._least: dict[tuple[str, int], int] = {}

    def faults(self, streams: int, census: Mapping[str, int]) -> Iterator[str]:
        for name, number in census.items():
            least = self._least.setdefault((name, streams), number)
            self._least[name, streams] = min(least, number)
            if number > least + _SLACK:
                yield f"{number} {name} with {streams} streams, {least} before"

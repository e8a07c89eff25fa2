"""VF indices behind the ``#`` of a PF name or root device: ``ens1f0#0-3,7``."""

import re
from dataclasses import dataclass
from typing import Final, Self

from domain.errors import InvalidIndexRanges

# So many digits are more than any index has, and fewer than int() refuses.
_RANGE: Final = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")


@dataclass(frozen=True, slots=True)
class IndexRanges:
    """The VFs meant by one entry; none written means the whole PF."""

    ranges: tuple[tuple[int, int], ...] = ()

    @classmethod
    def split(cls, entry: str) -> tuple[str, Self]:
        """Take an entry apart into what stands before the ``#`` and the indices behind it.

        Raises:
            InvalidIndexRanges: if what stands behind the ``#`` is no list of indices and rising ranges.
        """
        name, separator, text = entry.partition("#")
        if not name:
            raise InvalidIndexRanges(entry, "there is no name before the #" if separator else "the name is empty")
        if not separator:
            return name, cls()
        ranges = []
        for part in text.split(","):
            match = _RANGE.fullmatch(part.strip())
            if match is None:
                raise InvalidIndexRanges(entry, f"{part!r} is no VF index or range")
            first, last = int(match[1]), int(match[2] or match[1])
            if last < first:
                raise InvalidIndexRanges(entry, f"the range {part} runs backwards")
            ranges.append((first, last))
        return name, cls(tuple(ranges))

    def __contains__(self, index: int | None) -> bool:
        if not self.ranges:
            return True
        return index is not None and any(first <= index <= last for first, last in self.ranges)

    def __str__(self) -> str:
        written = ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in self.ranges)
        return f"#{written}" if written else ""

"""Cases that need a feature there is not yet, each with that feature."""

from typing import Final

LATER: Final[dict[str, str]] = {}

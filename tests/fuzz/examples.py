"""How many examples a fuzz test tries: the same some hundred each time, or as many new ones as SRIOVDP_FUZZ says."""

import os
from typing import Final

from hypothesis import HealthCheck, settings

_NUMBER: Final = os.environ.get("SRIOVDP_FUZZ")

EXAMPLES: Final = settings(
    max_examples=int(_NUMBER or 300),
    derandomize=_NUMBER is None,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

"""The kubelets that tests/kubelet/build has built."""

import os
from pathlib import Path
from typing import Final

_CACHE: Final = Path(os.environ.get("SRIOVDP_CACHE", Path(__file__).parents[2] / ".cache")) / "kubelet"


def binaries() -> dict[str, Path]:
    """Version to program, of those asked for by SRIOVDP_KUBELETS (as `137 134`; all that are built by default)."""
    wanted = os.environ.get("SRIOVDP_KUBELETS", "132 134 135 136 137").split()
    found = {f"{minor[0]}.{minor[1:]}": _CACHE / f"kubelet-{minor}" for minor in wanted}
    return {version: path for version, path in found.items() if path.is_file()}

"""The kubelets that tests/kubelet/build has built."""

import os
from pathlib import Path
from typing import Final

_CACHE: Final = Path(os.environ.get("SRIOVDP_CACHE", Path(__file__).parents[2] / ".cache")) / "kubelet"
_ALL: Final = "137 136 135 134 132"


def binaries() -> dict[str, Path]:
    """Version to program, newest first, of those that are built.

    SRIOVDP_KUBELETS names which (`137 134`, `all`, or nothing for none). Without it the newest alone: `make test` is
    to be quick.
    """
    wanted = os.environ.get("SRIOVDP_KUBELETS")
    minors = (_ALL if wanted in (None, "all") else wanted).split()
    paths = {f"{minor[0]}.{minor[1:]}": _CACHE / f"kubelet-{minor}" for minor in minors}
    found = {version: path for version, path in paths.items() if path.is_file()}
    return dict(list(found.items())[:1]) if wanted is None else found

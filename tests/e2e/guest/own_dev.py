"""A /dev such as a container has: of its own, made when the container starts."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_NODES = ("full", "net/tun", "null", "random", "urandom", "vfio/vfio", "vhost-net", "zero")


@contextmanager
def made() -> Iterator[Path]:
    """A tmpfs with copies of a few nodes."""
    where = Path(tempfile.mkdtemp(prefix="dev-", dir="/run"))
    subprocess.run(["mount", "-t", "tmpfs", "own-dev", where], check=True)
    for node in _NODES:
        (where / node).parent.mkdir(exist_ok=True)
        subprocess.run(["cp", "-a", f"/dev/{node}", where / node], check=True)
    yield where
    subprocess.run(["umount", where], check=True)
    shutil.rmtree(where)


def wrapper(where: Path) -> Sequence[str]:
    """A command that starts another one with *where* as its /dev."""
    return ("unshare", "--mount", "sh", "-c", 'mount --bind "$0" /dev && exec "$@"', str(where))

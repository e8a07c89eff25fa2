"""Netlink questions to the kernel this runs on; interfaces are made in a network namespace of their own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

REPOSITORY: Final = Path(__file__).parents[3]
LONG: Final = "a-name-that-is-longer-than-the-fifteen-characters-of-a-first-one"


def in_a_namespace(*commands: str) -> subprocess.CompletedProcess[str]:
    """Shell commands in a new network namespace, where $PYTHON is this interpreter with warnings as errors."""
    return subprocess.run(
        ["unshare", "--net", "sh", "-ec", "\n".join(commands)],
        env={**os.environ, "PYTHON": f"{sys.executable} -W error", "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def possible() -> bool:
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "ip"))):
        return False
    return in_a_namespace("ip link property add dev lo altname try0").returncode == 0


pytestmark = pytest.mark.skipif(not possible(), reason="needs root, unshare, and an ip that knows altnames")

ASK = """$PYTHON - <<'END'
import asyncio, json, os
from adapters.netlink.links import alternative_names
open_files = len(os.listdir("/proc/self/fd"))
async def as_the_daemon_does():
    return [await asyncio.to_thread(alternative_names) for _ in range(3)]
first, *others = asyncio.run(as_the_daemon_does())
assert others == [first, first] and alternative_names() == first
assert len(os.listdir("/proc/self/fd")) == open_files
print(json.dumps(first))
END"""


def answer(*commands: str) -> Any:
    done = in_a_namespace(*commands, ASK)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_the_kernel_tells_alternative_names_by_the_first_one() -> None:
    """Case D05."""
    found = answer(
        "ip link property add dev lo altname sriov1",
        f"ip link property add dev lo altname {LONG}",
        "ip link add ens1f0 type veth peer name ens1f1",
        "ip link property add dev ens1f1 altname uplink",
    )

    assert {name: set(others) for name, others in found.items()} == {"lo": {"sriov1", LONG}, "ens1f1": {"uplink"}}


def test_interfaces_without_alternative_names_are_not_told() -> None:
    """Case D05."""
    assert answer("ip link add ens1f0 type veth peer name ens1f1") == {}


def test_without_devlink_the_question_fails_and_leaves_nothing_open() -> None:
    """Case D17: on a kernel without devlink, which is what a node without smart NICs may run."""
    done = in_a_namespace(
        """$PYTHON - <<'END'
import os
from adapters.netlink.devlink import ddp_profiles
open_files = len(os.listdir("/proc/self/fd"))
for _ in range(3):
    try:
        print("answer", ddp_profiles())
    except Exception as error:
        print("failed", type(error).__name__)
assert len(os.listdir("/proc/self/fd")) == open_files
END"""
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout in {"failed NetlinkError\n" * 3, "answer {}\n" * 3}

"""Fake and daemon before every kubelet that is built: a table, version by way by behaviour."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

from tests.kubelet.binaries import binaries

_REPOSITORY: Final = Path(__file__).parents[2]
_LINE: Final = re.compile(r"^(tests/\S+?)::(\S+?)(?:\[(.*)\])? (PASSED|FAILED|SKIPPED|ERROR)", re.MULTILINE)


def main() -> int:
    """Run both halves of the suite for each kubelet. Returns the exit code."""
    found = binaries()
    if not found:
        print("no kubelet is built: tests/kubelet/build (needs Go)")
        return 0
    failed = 0
    rows: list[tuple[str, str, Counter[str]]] = []
    for version, program in found.items():
        contract = _pytest(
            ["tests/contract/kubelet_fake"], {"KUBELET_HARNESS": str(program), "KUBELET_VERSION": version}
        )
        rows.append((version, "contract with wrong plugins", _count(contract)))
        minor = version.replace(".", "")
        daemon = _pytest(["tests/kubelet"], {"SRIOVDP_KUBELETS": minor})
        rows.extend((version, f"daemon, {way}", _count(daemon, way)) for way in ("watcher", "classic"))
        rows.append((version, "daemon, both at once", _count(daemon, None)))
    print(f"\n{'kubelet':9}{'what':30}{'passed':>8}{'failed':>8}{'skipped':>9}")
    for version, what, counts in rows:
        bad = counts["FAILED"] + counts["ERROR"]
        failed += bad
        print(f"{version:9}{what:30}{counts['PASSED']:8}{bad:8}{counts['SKIPPED']:9}")
    passed = sum(counts["PASSED"] for _, _, counts in rows)
    skipped = sum(counts["SKIPPED"] for _, _, counts in rows)
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


def _pytest(paths: list[str], environment: dict[str, str]) -> str:
    command = [sys.executable, "-m", "pytest", "-v", "--tb=short", "-p", "no:cacheprovider", *paths]
    done = subprocess.run(
        command, cwd=_REPOSITORY, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(done.stdout[-8000:])
    return done.stdout


def _count(output: str, way: str | None = "") -> Counter[str]:
    """Outcomes; of tests for one way, of those for none (None), or of all."""
    counts: Counter[str] = Counter()
    for _, _, parameters, outcome in _LINE.findall(output):
        ways = {"watcher", "classic"} & set(parameters.split("-"))
        if way == "" or (way in ways) or (way is None and not ways):
            counts[outcome] += 1
    return counts


if __name__ == "__main__":
    sys.exit(main())

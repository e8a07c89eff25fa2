"""Fake and daemon before every kubelet that is built: a table, version by way by behaviour."""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.kubelet.binaries import binaries

_REPOSITORY: Final = Path(__file__).parents[2]
_CONTRACT: Final = "tests/contract/kubelet_fake"
_DAEMON: Final = "tests/kubelet"
_LINE: Final = re.compile(r"^tests/\S*?/test_(\w+)\.py::\w+(?:\[(.*)\])? (PASSED|FAILED|SKIPPED|ERROR)", re.MULTILINE)
_WAYS: Final = ("watcher", "classic")
_AT_ONCE: Final = 4
"""Test runs at a time: most of the time they wait."""


@dataclass(frozen=True, slots=True)
class Run:
    """The tests of one file before one kubelet."""

    version: str
    path: Path
    environment: Mapping[str, str]

    @property
    def half(self) -> str:
        return "contract" if _CONTRACT in self.path.as_posix() else "daemon"

    @property
    def timed(self) -> bool:
        """Whether it is about a few milliseconds, and so wants the machine for itself."""
        return self.path.name == "test_start.py"

    def output(self) -> str:
        command = [sys.executable, "-m", "pytest", "-v", "-rP", "--tb=short", "-p", "no:cacheprovider", str(self.path)]
        environment = {**os.environ, "PYTHONPATH": str(_REPOSITORY), **self.environment}
        done = subprocess.run(command, cwd=_REPOSITORY, env=environment, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 5):  # 5: nothing to run
            print(f"--- {self.version} {self.path.name}\n{done.stdout[-8000:]}{done.stderr[-2000:]}", flush=True)
        return done.stdout


def main() -> int:
    """Run both halves of the suite for each kubelet. Returns the exit code."""
    found = binaries()
    if not found:
        print("kubelet: none is built, so nothing is tested: tests/kubelet/build (needs Go)")
        return 0
    runs = sorted(_runs(found), key=lambda run: run.timed)
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        outputs = list(threads.map(Run.output, (run for run in runs if not run.timed)))
    outputs += map(Run.output, (run for run in runs if run.timed))
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for run, output in zip(runs, outputs, strict=True):
        for behaviour, parameters, outcome in _LINE.findall(output):
            way = next((w for w in _WAYS if w in parameters.split("-")), "-")
            counts.setdefault((f"{run.half}: {behaviour}", run.version, way), Counter())[outcome] += 1
    _print(counts, list(found))
    _print_figures(runs, outputs)
    total = sum(counts.values(), Counter())
    failed = total["FAILED"] + total["ERROR"]
    print(f"\n{total['PASSED']} passed, {failed} failed, {total['SKIPPED']} for other versions or the fake alone")
    return 1 if failed or not total["PASSED"] else 0


def _runs(found: Mapping[str, Path]) -> Iterator[Run]:
    """Long ones first, so that none is left over at the end."""
    for version in found:
        for path in sorted((_REPOSITORY / _DAEMON).glob("test_*.py")):
            yield Run(version, path, {"SRIOVDP_KUBELETS": version.replace(".", "")})
    for version, program in found.items():
        environment = {"KUBELET_HARNESS": str(program), "KUBELET_VERSION": version}
        for path in sorted((_REPOSITORY / _CONTRACT).glob("test_*.py")):
            yield Run(version, path, environment)


def _print(counts: Mapping[tuple[str, str, str], Counter[str]], versions: list[str]) -> None:
    print(f"\n{'behaviour':28}{'way':9}" + "".join(f"{version:>9}" for version in versions))
    for behaviour, way in dict.fromkeys((behaviour, way) for behaviour, _, way in counts):
        cells = [_cell(counts.get((behaviour, version, way), Counter())) for version in versions]
        print(f"{behaviour:28}{way:9}" + "".join(f"{cell:>9}" for cell in cells))


def _cell(count: Counter[str]) -> str:
    bad = count["FAILED"] + count["ERROR"]
    if bad:
        return f"{bad} failed"
    return f"{count['PASSED']} ok" if count["PASSED"] else "-"


def _print_figures(runs: list[Run], outputs: list[str]) -> None:
    """What tests have measured: lines under the name of the test in pytest's report of passed ones."""
    for run, output in zip(runs, outputs, strict=True):
        report = output.partition("= PASSES =")[2]
        for title, text in re.findall(
            r"^_+ (\S.*?) _+\n-+ Captured stdout call -+\n((?:[^_=-].*\n)+)", report, re.MULTILINE
        ):
            print(f"{run.version} {title}: {'; '.join(text.splitlines())}")


if __name__ == "__main__":
    sys.exit(main())

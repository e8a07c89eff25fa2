"""python -m tests.bench [--quick] [--only SECTION ...]: prints a table and writes bench.json here."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.bench import allocate, everything, floor, idle, memory, reconcile, start, syscalls, table
from tests.bench.daemon import Program
from tests.bench.figure import Figure

_RESULT: Final = Path("bench.json")
_IDLE: Final = 60.0
_QUICK_IDLE: Final = 10.0


def main() -> int:
    options = _options()
    machine = _machine(Program(options.python))
    print(_about(machine), flush=True)
    figures: list[Figure] = []
    for line in table.lines(_kept(_measure(options), figures)):
        print(line, flush=True)
    _RESULT.write_text(json.dumps({"machine": machine, "figures": [f.as_json() for f in figures]}, indent=2) + "\n")
    missed = [f"{figure.section} {figure.name}" for figure in figures if figure.met is False]
    print(f"\n{_RESULT}: {len(figures)} figures; targets missed: {'; '.join(missed) or 'none'}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer hosts and repetitions, a minute in all")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, help="these sections")
    parser.add_argument("--idle", type=float, metavar="SECONDS", help=f"how long to idle (default: {_IDLE:g})")
    parser.add_argument("--python", default=sys.executable, help="the daemon's interpreter, as that of an image")
    options = parser.parse_args()
    options.idle = options.idle or (_QUICK_IDLE if options.quick else _IDLE)
    return options


SECTIONS: Final = tuple(
    module.SECTION for module in (floor, start, syscalls, memory, idle, allocate, everything, reconcile)
)


def _measure(options: argparse.Namespace) -> Iterator[Figure]:
    program = Program(options.python)
    quick: bool = options.quick
    sections: Mapping[str, Iterable[Figure]] = {
        floor.SECTION: floor.measure(program, quick=quick),
        start.SECTION: start.measure(program, quick=quick),
        syscalls.SECTION: syscalls.measure(program, quick=quick),
        memory.SECTION: memory.measure(program, quick=quick),
        idle.SECTION: idle.measure(program, options.idle),
        allocate.SECTION: allocate.measure(program, quick=quick),
        everything.SECTION: everything.measure(program, quick=quick),
        reconcile.SECTION: reconcile.measure(quick=quick),
    }
    for section in SECTIONS:
        if section in options.only:
            yield from sections[section]


def _kept(figures: Iterable[Figure], kept: list[Figure]) -> Iterator[Figure]:
    for figure in figures:
        kept.append(figure)
        yield figure


def _machine(program: Program) -> dict[str, Any]:
    return {
        "python": program.ask("platform.python_version()"),
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "load": os.getloadavg()[0],
        "development packages": program.ask("bool(importlib.util.find_spec('rich'))") == "True",
    }


def _about(machine: Mapping[str, Any]) -> str:
    about = (
        f"Python {machine['python']}, Linux {machine['kernel']}, {machine['cpus']} CPUs, load {machine['load']:.1f}. "
        "The Go plugin's figures are those of two CPUs.\nThe min counts for the target: others may use this machine."
    )
    if machine["development packages"]:
        about += (
            "\nThis Python has development packages, such as rich, which structlog imports where it is: "
            "25 ms and 3 MB\nthat an image does not have. --python takes that of a venv of requirements/runtime.txt."
        )
    return about


if __name__ == "__main__":
    sys.exit(main())

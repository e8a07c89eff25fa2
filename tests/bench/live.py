"""python -m tests.bench.live [--quick] [--only SECTION ...]: how fast a change arrives; writes bench-live.json here."""

import argparse
import asyncio
import json
import os
import platform
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Final

from tests.bench import live_change, live_idle, live_reconcile, live_register, live_restarts
from tests.bench.live_figure import HEAD, LiveFigure

_RESULT: Final = Path("bench-live.json")
_SECTIONS: Final[Mapping[str, Callable[[bool], AsyncIterator[LiveFigure]]]] = {
    "change": lambda quick: live_change.measure(10 if quick else 60),
    "register": lambda quick: live_register.measure(20 if quick else 200),
    "reconcile": lambda quick: live_reconcile.measure(5 if quick else 20),
    "idle": lambda quick: live_idle.measure(20 if quick else 60),
    "restarts": lambda quick: live_restarts.measure(100 if quick else 1000),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.live", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--only", nargs="+", choices=_SECTIONS, default=list(_SECTIONS), help="these sections")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"Python {platform.python_version()}, Linux {platform.release()}, {os.cpu_count()} CPUs, load {load:.1f}")
    print(HEAD, flush=True)
    figures = [figure for name in options.only for figure in asyncio.run(_measure(name, quick=options.quick))]
    _RESULT.write_text(json.dumps({"load": load, "figures": [f.as_json() for f in figures]}, indent=2) + "\n")
    missed = [figure.name for figure in figures if figure.met is False]
    print(f"\n{_RESULT}: {len(figures)} figures; targets missed: {'; '.join(missed) or 'none'}")
    return 0


async def _measure(section: str, *, quick: bool) -> list[LiveFigure]:
    figures = []
    async for figure in _SECTIONS[section](quick):
        print(figure.row(), flush=True)
        figures.append(figure)
    return figures


if __name__ == "__main__":
    sys.exit(main())

"""From a change of the host to the list at the kubelet."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from typing import Final

from tests.bench.live_bed import RESOURCE, LiveBed, live_bed
from tests.bench.live_figure import LiveFigure, percentiles
from tests.hosts.function import Function

#: Number of VFs to the median asked for, and to the seconds that a daemon rests after it looked.
_HOSTS: Final = {64: (100.0, 0.5), 1024: (250.0, 2.0)}
_IN_A_ROW: Final = 0.1
_WITHIN: Final = 20.0


async def measure(rounds: int) -> AsyncIterator[LiveFigure]:
    for vfs, (target, rest) in _HOSTS.items():
        async with live_bed(vfs) as bed:
            alone = [await _change(bed, number, rest) for number in range(rounds)]
            for figure in percentiles(f"VF comes or goes, {vfs} VFs: list", alone, target, None):
                yield figure
            in_a_row = [await _change(bed, number, _IN_A_ROW) for number in range(rounds)]
            for figure in percentiles(f"the same in a row, {vfs} VFs: list", in_a_row, None, None):
                yield figure


async def _change(bed: LiveBed, number: int, rest: float) -> float:
    """Milliseconds from the end of a change to its list; a VF goes, and the next time it comes back."""
    await asyncio.sleep(rest * (1 + random.random() / 10))  # noqa: S311 - not in step with any timer
    pf = next(iter(f for f in bed.host.description.functions.values() if f.sriov))
    if number % 2 == 0:
        vf = pf.vfs[max(pf.vfs)]
        bed.host.remove_function(vf.bdf)
        return await _until(bed, vf.bdf, present=False)
    vf = _next_vf(bed, pf)
    bed.host.add(vf)
    return await _until(bed, vf.bdf, present=True)


def _next_vf(bed: LiveBed, pf: Function) -> Function:
    return bed.host.description.vf(pf, max(pf.vfs) + 1, driver="vfio-pci")


async def _until(bed: LiveBed, bdf: str, *, present: bool) -> float:
    began = time.monotonic()
    await bed.kubelet.wait_for(lambda: (bdf in bed.listed()) is present, _WITHIN)
    return (bed.kubelet.messages(RESOURCE)[-1].at - began) * 1000

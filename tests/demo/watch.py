"""Changes of pools at the kubelet, a line each."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from typing import Final

from tests.demo.node import POOLS, DaemonEnded, Node
from tests.fakes.kubelet import FakeKubelet

_LOOK_EVERY: Final = 0.1
_FREE: Final = "0000:3b:01.0"
_BOUND: Final = "0000:3b:01.1"


def instructions(node: Node) -> Iterator[str]:
    """How to change the simulated host from another terminal."""
    devices = "sys/bus/pci/devices"
    way = (node.host / devices / _FREE).readlink()
    yield f"Watching until Ctrl-C. The simulated host is {node.host}"
    yield "Change it in another terminal, for instance:"
    yield f"  cd {node.host}"
    yield f"  rm {devices}/{_FREE}  # unplug a VF; one that a pod holds stays in the list, Unhealthy"
    yield f"  ln -s {way} {devices}/  # plug it in again"
    yield f"  sed -i s/iavf/vfio-pci/ {devices}/{_BOUND}/uevent  # bind a VF to another driver"
    yield f"The daemon's log is {node.log}"


async def changes(kubelet: FakeKubelet, daemon: asyncio.subprocess.Process) -> None:
    """Print each change, until cancelled.

    Raises:
        DaemonEnded: if the daemon ends."""
    seen = {resource: len(kubelet.messages(resource)) for resource in POOLS}
    while daemon.returncode is None:
        await asyncio.sleep(_LOOK_EVERY)
        for resource, before in seen.items():
            messages = kubelet.messages(resource)
            for number in range(before, len(messages)):
                old, new = messages[number - 1].health, messages[number].health
                print(f"{time.strftime('%X')}  {resource}  {len(new)} devices  {_difference(old, new)}", flush=True)
            seen[resource] = len(messages)
    raise DaemonEnded(daemon.returncode)


def _difference(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    parts = [f"+{device}" for device in new if device not in old]
    parts += [f"-{device}" for device in old if device not in new]
    parts += [f"{device} is {health}" for device, health in new.items() if old.get(device, health) != health]
    return " ".join(parts) or "the same list again"

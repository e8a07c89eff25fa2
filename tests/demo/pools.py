"""Pools as the kubelet knows them."""

from collections import Counter
from collections.abc import Iterator

from tests.demo.node import POOLS
from tests.fakes.kubelet import FakeKubelet

_ROW = "{:27}{:13}{:>9}{:>13}   {}"


async def table(kubelet: FakeKubelet) -> Iterator[str]:
    """One line a pool, from the Node's status and the pool's list."""
    node = (await kubelet.capacity()).node
    return _lines(kubelet, {name: (node.capacity[name], node.allocatable[name]) for name in POOLS})


async def held_device(kubelet: FakeKubelet, resource: str) -> str:
    """The first device of a pool that a pod holds."""
    containers = [container for pod in (await kubelet.devices()).values() for container in pod.values()]
    held: list[str] = [device for container in containers for device in container["devices"].get(resource, {})]
    return min(held)


def _lines(kubelet: FakeKubelet, counts: dict[str, tuple[int, int]]) -> Iterator[str]:
    yield _ROW.format("RESOURCE", "DRIVER", "DEVICES", "ALLOCATABLE", "NUMA NODES")
    for name, (capacity, allocatable) in counts.items():
        yield _ROW.format(name, POOLS[name], capacity, allocatable, _numa(kubelet, name))


def _numa(kubelet: FakeKubelet, resource: str) -> str:
    devices = kubelet.messages(resource)[-1].devices
    counts = Counter(node.ID for device in devices for node in device.topology.nodes)
    return ", ".join(f"{count} on node {node}" for node, count in sorted(counts.items()))

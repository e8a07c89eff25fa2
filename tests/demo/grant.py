"""What a container gets for a device."""

from collections.abc import Iterator, Mapping, Sequence

from tests.demo.node import Node
from tests.fakes.kubelet import FakeKubelet


class PodRefused(Exception):
    """The kubelet did not admit the pod, or could not start its container."""


async def grant(kubelet: FakeKubelet, node: Node, resource: str) -> Iterator[str]:
    """Admit a pod that asks for one device, and show what the container runtime is told."""
    verdict = await kubelet.admit(uid=f"pod-{resource.rpartition('_')[2]}", requests={resource: 1})
    if not verdict.admitted:
        raise PodRefused(f"{verdict.reason}: {verdict.message}")
    (container,) = verdict.containers.values()
    if container.error:
        raise PodRefused(container.error)
    variable = f"PCIDEVICE_{resource}".replace(".", "_").replace("/", "_").upper()
    return _lines(node, resource, container.env[variable], container.env, container.devices)


def _lines(
    node: Node, resource: str, device: str, environment: Mapping[str, str], nodes: Sequence[Mapping[str, str]]
) -> Iterator[str]:
    yield f"A pod asks for one {resource} and gets {device}:"
    for name, value in sorted(environment.items()):
        yield f"  environment   {name}={value}"
    for device_node in nodes:
        yield f"  device node   {device_node['container']} ({device_node['permissions']})"
    if not nodes:
        yield "  device nodes  none: the CNI plugin moves the VF's network interface into the pod"
    record = node.devinfo / f"{resource}-{device}-device.json".replace("/", "-")
    yield f"  device info   {record.name} for Multus:"
    yield f"                {record.read_text().strip()}"

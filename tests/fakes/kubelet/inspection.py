"""What one may ask a kubelet about the devices of a pod."""

from typing import Any

from tests.fakes.kubelet.ledger import Ledger
from tests.fakes.kubelet.pods import PodEntry
from tests.fakes.kubelet.process import Process


def held_devices(process: Process, entry: PodEntry) -> dict[str, Any]:
    """Container -> {"devices": {resource: {id: [nodes]}}, "affinity": [nodes]}."""
    report: dict[str, Any] = {}
    for container in entry.pod.in_order:
        held = process.ledger.holdings.of_container(entry.pod.uid, container.name)
        devices = {
            resource: {device: holding.nodes(device) for device in sorted(holding.devices)}
            for resource, holding in held.items()
        }
        report[container.name] = {"devices": devices}
        if nodes := process.allocation.affinity.get((entry.pod.uid, container.name)):
            report[container.name]["affinity"] = sorted(nodes)
    return report


def device_health(ledger: Ledger, entry: PodEntry) -> dict[str, list[dict[str, Any]]]:
    """allocatedResourcesStatus of each app container."""
    return {
        container.name: [
            {
                "name": resource,
                "resources": [
                    {"resourceID": device, "health": _health(ledger, resource, device)}
                    for device in sorted(holding.devices)
                ],
            }
            for resource, holding in ledger.holdings.of_container(entry.pod.uid, container.name).items()
        ]
        for container in entry.pod.containers
    }


def _health(ledger: Ledger, resource: str, device: str) -> str:
    """dm/manager.go UpdateAllocatedResourcesStatus: what is no longer listed counts as healthy."""
    listed = ledger.table.listed.get(resource, {}).get(device)
    return "Healthy" if listed is None or listed.health == "Healthy" else "Unhealthy"

"""What the device manager remembers: dm/manager.go, the fields of ManagerImpl and who changes them."""

from pathlib import Path

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as dp
from tests.fakes.kubelet import checkpoint
from tests.fakes.kubelet.device_table import DeviceTable
from tests.fakes.kubelet.endpoints import Endpoint, Endpoints, EndpointsBySocket
from tests.fakes.kubelet.holdings import Holdings
from tests.fakes.kubelet.reports import Counts
from tests.fakes.kubelet.setting import Setting

# dm/manager.go: the buffer of the update channel.
_UPDATES_KEPT = 100


class Ledger:
    def __init__(self, setting: Setting) -> None:
        self.table = DeviceTable()
        by_socket = setting.release.keys_by_socket
        self.endpoints = EndpointsBySocket(setting.rng) if by_socket else Endpoints()
        self.holdings = Holdings()
        # Kept beside the holdings, and sometimes wrongly: an answer without responses leaks.
        self.in_use: dict[str, set[str]] = {}
        self.updates: list[list[str]] = []
        self._directory = setting.device_plugins
        self._release = setting.release
        self._grace = setting.timing.grace
        self._journal = setting.journal
        self._clock = setting.clock
        self._rng = setting.rng

    def load(self) -> None:
        """Take over the checkpoint: resources come back empty, their grace starts now."""
        try:
            saved = checkpoint.read(self._directory)
        except checkpoint.CheckpointCorrupt as corrupt:
            self._journal.note(f"Continue after failing to read checkpoint file: {corrupt}")
            return
        if saved is None:
            return
        for entry in saved.entries:
            self.holdings.put(entry.pod, entry.container, entry.resource, entry.holding)
        self.recount()
        for resource in saved.registered:
            self.table.start_empty(resource)
            stopped = Endpoint(resource, stopped_at=self._clock())
            self.endpoints.primary[resource] = stopped

    def save(self) -> None:
        checkpoint.write(self._directory, self.holdings, self.table.healthy)

    def receive(self, resource: str, socket: Path, message: dp.ListAndWatchResponse) -> None:
        changed = self.table.replace(resource, message.devices)
        if self._release.sends_health_updates:
            scope = resource if self._release.looks_up_within_resource else None
            pods = {
                self._rng.choice(holders) for device in changed if (holders := self.holdings.holders(device, scope))
            }
            if pods and len(self.updates) < _UPDATES_KEPT:
                self.updates.append(sorted(pods))
        endpoint = self.endpoints.primary.get(resource)
        if endpoint and endpoint.connection and endpoint.connection.socket == socket:
            endpoint.heard = True
        self.save()
        self._journal.received(resource, socket, message)
        self._journal.ring()

    def lose(self, resource: str, socket: Path) -> None:
        if self.endpoints.disconnected(resource, socket, self._clock()):
            self.table.mark_unhealthy(resource)
        self._journal.ring()

    def is_plugin_resource(self, resource: str) -> bool:
        return resource in self.table.healthy or resource in self.in_use

    def recount(self) -> None:
        self.in_use = self.holdings.in_use()

    def reclaim(self, active: set[str]) -> None:
        """Devices of pods that are no longer there come back, not before somebody looks."""
        if self.holdings.keep_only(active):
            self.recount()

    def counts(self) -> Counts:
        """What goes to the Node; resources past their grace are forgotten with the same look."""
        healthy, unhealthy = self.table.healthy, self.table.unhealthy
        removed = [r for r in healthy.keys() | unhealthy.keys() if self._is_over(r)]
        for resource in removed:
            self.endpoints.primary.pop(resource, None)
            self.table.forget(resource)
        if removed:
            self.save()
        # A resource whose stream ended before its first message has a capacity, 0, and no more.
        allocatable = {resource: len(devices) for resource, devices in healthy.items()}
        capacity = {r: allocatable.get(r, 0) + len(devices) for r, devices in unhealthy.items()}
        return Counts(capacity, allocatable, tuple(sorted(removed)))

    def expire(self, resource: str) -> None:
        """Let the grace of a stopped endpoint be over."""
        endpoint = self.endpoints.primary.get(resource)
        if endpoint is None:
            raise LookupError(f'no endpoint for "{resource}"')
        if endpoint.stopped_at is None:
            raise LookupError(f'endpoint of "{resource}" is not stopped')
        endpoint.stopped_at -= self._grace + 1

    def _is_over(self, resource: str) -> bool:
        endpoint = self.endpoints.primary.get(resource)
        return endpoint is None or endpoint.outlived(self._grace, self._clock())

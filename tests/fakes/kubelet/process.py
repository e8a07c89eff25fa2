"""One kubelet process from its start to its death; what outlives it is handed in.

Order of the start: dm/manager.go Start (checkpoint, clean-up, listen), then the plugin watcher.
"""

import asyncio
import os
import time

from adapters.kubelet.pb.deviceplugin_v1beta1_pb2_grpc import add_RegistrationServicer_to_server
from adapters.kubelet.pb.podresources_v1_pb2_grpc import add_PodResourcesListerServicer_to_server
from tests.fakes.kubelet.admission import SyncLoop
from tests.fakes.kubelet.allocation import Allocation, SourcesReady
from tests.fakes.kubelet.container_start import ContainerStarts
from tests.fakes.kubelet.front_door import FrontDoor
from tests.fakes.kubelet.ledger import Ledger
from tests.fakes.kubelet.node import Node
from tests.fakes.kubelet.plugin_registration import PluginRegistration
from tests.fakes.kubelet.podresources import PodResources
from tests.fakes.kubelet.pods import PodTable
from tests.fakes.kubelet.reconciler import Reconciler
from tests.fakes.kubelet.registration import Registrations
from tests.fakes.kubelet.setting import Setting
from tests.fakes.kubelet.socket_directory import clean_up, looks_new
from tests.fakes.kubelet.tasks import Tasks
from tests.fakes.kubelet.watcher import Watcher


class Process:
    def __init__(self, setting: Setting, pods: PodTable, node: Node, sources: SourcesReady) -> None:
        self.sources = sources
        self.tasks = Tasks(setting.failures)
        self.reset = looks_new(setting.device_plugins)
        self.ledger = Ledger(setting)
        self.allocation = Allocation(self.ledger, sources, pods.active_uids, setting)
        self.sync_loop = SyncLoop(pods, node, self.ledger, self.allocation, setting.release)
        self.starts = ContainerStarts(self.ledger, self.allocation, pods.active_uids, setting.rng)
        self._setting = setting
        self._node = node
        self._registrations = Registrations(self.ledger, self.tasks, setting)
        self._door = FrontDoor(
            setting.device_plugins / "kubelet.sock",
            lambda server: add_RegistrationServicer_to_server(self._registrations, server),
        )
        lister = PodResources(self.ledger, pods, self.allocation.reclaim, setting)
        self._pod_door = FrontDoor(
            setting.pod_resources / "kubelet.sock",
            lambda server: add_PodResourcesListerServicer_to_server(lister, server),
        )
        self._watcher: Watcher | None = None

    async def start(self) -> None:
        setting = self._setting
        # 0755, not 0750: the checkpoint store makes it first.
        setting.device_plugins.mkdir(mode=0o755, parents=True, exist_ok=True)
        setting.pod_resources.mkdir(mode=0o750, exist_ok=True)
        self.ledger.load()
        await asyncio.sleep(setting.timing.clean_up_delay)
        clean_up(setting.device_plugins, setting.release)
        await self._door.open(setting.timing.accept_delay)
        if setting.settled:
            hour = 3600
            os.utime(setting.device_plugins / "kubelet.sock", (time.time() - hour,) * 2)
        (setting.pod_resources / "kubelet.sock").unlink(missing_ok=True)
        await self._pod_door.open()
        if setting.watches:
            self._watch()
        self.tick()
        self.tasks.background(self._tick_on(), "node status")
        setting.journal.note("kubelet started")

    async def die(self) -> None:
        """Go at once: connections are cut, socket files stay."""
        await self._door.slam()
        await self._pod_door.slam()
        await self.tasks.end()
        await self._registrations.close()
        if self._watcher is not None:
            self._watcher.close()
        self._setting.journal.note("kubelet died")

    def tick(self) -> None:
        self._node.update(self.ledger.counts())
        self._setting.journal.ring()

    async def _tick_on(self) -> None:
        while True:
            await asyncio.sleep(self._setting.timing.node_tick)
            self.tick()

    def _watch(self) -> None:
        self._watcher = Watcher(self._setting.plugins_registry, self._setting.journal)
        self._watcher.start()
        registration = PluginRegistration(self._registrations, self._setting)
        reconciler = Reconciler(self._watcher, registration, self.tasks, self._setting)
        self.tasks.background(reconciler.run(), "reconciler")

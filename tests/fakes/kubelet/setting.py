"""What every process of one fake kubelet shares, however often it is restarted."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.kubelet.journal import Journal
from tests.fakes.kubelet.release import Release
from tests.fakes.kubelet.timing import Timing


@dataclass(frozen=True, slots=True)
class Setting:
    directory: Path
    release: Release
    timing: Timing
    machine: frozenset[int]  # its NUMA nodes
    aligned: bool  # topology policy single-numa-node; otherwise none
    watches: bool  # plugins_registry, too
    settled: bool  # up for long, and with a pod that holds nothing: the plugin's own
    journal: Journal
    clock: Callable[[], float]  # for the grace alone
    rng: random.Random  # stands for Go's map order
    failures: list[BaseException]  # faults of the fake itself

    @property
    def device_plugins(self) -> Path:
        return self.directory / "device-plugins"

    @property
    def plugins_registry(self) -> Path:
        return self.directory / "plugins_registry"

    @property
    def pod_resources(self) -> Path:
        return self.directory / "pod-resources"

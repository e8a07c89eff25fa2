"""A node of an example."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dependency_injector import providers

from adapters.kubelet.messages import container_response
from domain.resource_name import ResourceName
from entrypoints.container import Container, build
from entrypoints.settings import Settings
from tests.fakes.journal import FakeJournal
from tests.fakes.pool_publisher import FakePoolPublisher


@dataclass(frozen=True, slots=True)
class Node:
    """The daemon's own parts on a simulated host, without a kubelet."""

    place: Path
    container: Container
    journal: FakeJournal

    @classmethod
    def of(cls, place: Path, root: str, *, use_cdi: bool = False) -> "Node":
        settings = Settings(
            config_file=place / "config.json",
            root=place / root,
            kubelet_dir=place / "kubelet",
            devinfo_dir=place / "dp",
            cdi_dir=place / "cdi",
            use_cdi=use_cdi,
        )
        journal = FakeJournal()
        container = build(settings, journal)
        container.publisher.override(providers.Object(FakePoolPublisher()))
        container.table().wanted = container.configuration().load().pools
        return cls(place, container, journal)

    def reconcile(self) -> None:
        asyncio.run(self.container.discovery().reconcile())

    def allocate(self, pool: ResourceName, ids: Sequence[str]) -> Any:
        """What one container gets, as the kubelet is told."""
        (granted,) = asyncio.run(self.container.allocation().allocate(pool, [ids]))
        return container_response(granted)

    def lists(self) -> list[tuple[str, str, str | None]]:
        """Every pool's devices with what is wrong with each."""
        lists = self.container.table().lists
        return [(str(name), entry.id, entry.fault) for name, entries in lists.items() for entry in entries]

    def refusals(self) -> Iterator[str]:
        """Everything that `sriovdp explain` says against a device or a pool."""
        found = self.container.explain()()
        for trail in found.trails:
            yield from (str(r) for verdict in trail.verdicts for r in verdict.refusals)
            yield from [str(trail.unusable)] if trail.unusable else []
        yield from (advice.text for advice in found.advice)
        yield from found.unreadable.values()

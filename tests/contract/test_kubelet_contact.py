"""Port KubeletContact: which pools a kubelet listens to, over real sockets."""

import asyncio
from pathlib import Path
from time import monotonic

import pytest

from adapters.kubelet.publisher import KubeletPaths, KubeletPublisher, Registration
from application.ports.kubelet import KubeletContact
from domain.announcement import Announced
from domain.exposure import Grant
from domain.resource_name import ResourceName
from tests.fakes.journal import FakeJournal
from tests.fakes.kubelet import EAGER, FakeKubelet

P = ResourceName("intel.com", "p")
ONE = (Announced("0000:3b:01.0", 1),)
WITHIN = 20.0


async def _nothing(resource: ResourceName, containers: object) -> list[Grant]:
    return []


@pytest.mark.parametrize("way", ["watcher", "classic"])
def test_a_pool_is_unheard_until_a_kubelet_listens_and_again_from_when_it_stops(way: str, short_path: Path) -> None:
    async def story() -> None:
        async with FakeKubelet(short_path, timing=EAGER, watcher=way == "watcher") as kubelet:
            paths = KubeletPaths(short_path, short_path)
            publisher = KubeletPublisher(paths, Registration.AUTO, _nothing, FakeJournal())
            try:
                await contacted(kubelet, publisher)
            finally:
                await publisher.stop()

    async def contacted(kubelet: FakeKubelet, publisher: KubeletPublisher) -> None:
        contact: KubeletContact = publisher
        assert contact.unheard() == {}
        began = monotonic()
        await publisher.publish(P, ONE)
        assert _seconds(contact) <= monotonic() - began
        await kubelet.wait_for(lambda: contact.unheard() == {P: None}, WITHIN)
        await asyncio.sleep(0.3)
        ending = monotonic()
        await kubelet.kill()
        await kubelet.wait_for(lambda: contact.unheard() != {P: None}, WITHIN)
        assert _seconds(contact) <= monotonic() - ending
        await publisher.withdraw(P)
        assert contact.unheard() == {}

    asyncio.run(story())


def _seconds(contact: KubeletContact) -> float:
    seconds = contact.unheard()[P]
    assert seconds is not None
    return seconds

"""Holdings as they were noted once: pods may have ended since."""

from pathlib import Path
from typing import Any

import pytest

from domain.announcement import GONE, Holding
from domain.pci import PciAddress
from domain.resource_name import ResourceName
from tests.hosts.named import h1, h2
from tests.unit.application.stage import Stage

OLD = ResourceName("intel.com", "old")
FIRST = "0000:3b:01.0"
KERN: dict[str, Any] = {"resourceName": "kern", "selectors": {"drivers": ["iavf"]}}
DPDK: dict[str, Any] = {"resourceName": "dpdk", "selectors": {"drivers": ["vfio-pci"]}}


def noted(stage: Stage, *pools: dict[str, Any], resource: ResourceName = OLD, ours: bool = False) -> None:
    """A daemon that starts and reads that a container holds a device as one of another pool."""
    stage.device_use.held = frozenset({Holding(resource, FIRST)})
    stage.device_use.given = frozenset({resource}) if ours else frozenset()
    stage.device_use.doubtful = stage.device_use.held
    stage.start(*pools)


@pytest.mark.parametrize("ours", [False, True])
def test_an_interface_that_is_on_the_host_was_given_back(ours: bool, tmp_path: Path) -> None:
    """Case B02: after a drain, and where pod-resources is not mounted, nothing else would ever tell."""
    stage = Stage(tmp_path, h1(), KERN)

    noted(stage, KERN, ours=ours)

    assert stage.listed("kern") == dict.fromkeys(stage.listed("kern"))
    assert FIRST in stage.listed("kern")
    assert stage.journal.told("devices held back") == []


def test_an_interface_that_is_away_is_in_a_pod(tmp_path: Path) -> None:
    """Case B02."""
    stage = Stage(tmp_path, h1(), KERN)
    stage.laid.move_netdev_to_pod(FIRST)

    noted(stage, KERN)
    stage.reconcile()

    assert FIRST not in stage.listed("kern")
    (told,) = stage.journal.told("devices held back")
    assert told["first"] == FIRST


@pytest.mark.parametrize("asked", [True, False])
def test_a_vfio_group_that_opens_was_given_back_and_one_that_cannot_be_asked_not(asked: bool, tmp_path: Path) -> None:
    """Case B02."""
    stage = Stage(tmp_path, h2(), DPDK)
    group = stage.table.host.functions[PciAddress.parse(FIRST)].iommu_group
    node = stage.laid.root / f"dev/vfio/{group}"
    assert node.exists()
    if not asked:
        node.unlink()
        node.symlink_to(node.parent)  # there, and no device

    noted(stage, DPDK)

    assert (FIRST in stage.listed("dpdk")) is asked


def test_a_device_that_was_rebound_after_its_pod_had_ended_is_in_its_new_pool(tmp_path: Path) -> None:
    """Case B03: the operator binds drained VFs to another driver and starts the plugin anew."""
    stage = Stage(tmp_path, h1(), KERN, DPDK)
    kern = stage.name("kern")
    stage.laid.rebind(FIRST, "vfio-pci")

    noted(stage, KERN, DPDK, resource=kern)

    assert FIRST not in stage.listed("kern")
    assert FIRST in stage.listed("dpdk")


def test_a_device_that_has_gone_stays_where_it_was(tmp_path: Path) -> None:
    """Case B10: it harms nobody there, and a pod may still have it in its books."""
    stage = Stage(tmp_path, h1(), KERN)
    kern = stage.name("kern")
    stage.laid.remove_function(FIRST)

    noted(stage, KERN, resource=kern)

    assert stage.listed("kern")[FIRST] == GONE


def test_what_is_known_for_sure_needs_no_signs(tmp_path: Path) -> None:
    """Facts/kubelet.md 4.4: after a reboot a pod gets its device again without an Allocate, and has not used it yet."""
    stage = Stage(tmp_path, h1(), KERN)
    stage.device_use.held = frozenset({Holding(OLD, FIRST)})

    stage.start(KERN)

    assert FIRST not in stage.listed("kern")


@pytest.mark.parametrize("away", [False, True])
def test_only_what_is_in_doubt_needs_signs(away: bool, tmp_path: Path) -> None:
    """Facts/kubelet.md 1.4: what an init container alone has is in the kubelet's notes, and they may be old."""
    second = "0000:3b:01.1"
    stage = Stage(tmp_path, h1(), KERN)
    if away:
        stage.laid.move_netdev_to_pod(second)
    stage.device_use.held = frozenset({Holding(OLD, FIRST), Holding(OLD, second)})
    stage.device_use.doubtful = frozenset({Holding(OLD, second)})

    stage.start(KERN)

    assert FIRST not in stage.listed("kern")
    assert (second in stage.listed("kern")) is not away

"""Selectors beyond the Go plugin's: exclude, numaNodes, vfOnly, allowHostUse, patterns in pfNames."""

from pathlib import Path
from typing import Any

import pytest

from tests.hosts.host import SimHost
from tests.hosts.iommu import VFIO
from tests.unit.application.stage import Stage

A = [f"0000:3b:01.{i}" for i in range(3)]
B = [f"0000:af:01.{i}" for i in range(3)]
NIC = "0000:01:00.0"


def host() -> SimHost:
    """Two PFs on two NUMA nodes with three VFs each, the third of them on vfio-pci; a NIC with the default route."""
    host = SimHost()
    for number, bus in enumerate(("3b", "af")):
        pf = host.pf(f"0000:{bus}:00.0", netdevs=[f"ens{number + 1}f0"], numa=number)
        for index in range(3):
            host.vf(pf, index, driver=VFIO if index == 2 else "iavf")
    host.function(NIC, device="1533", driver="igb", numa=None, netdevs=["eno1"])
    host.default_route("eno1", "192.0.2.1")
    return host


def pool(*selectors: dict[str, Any]) -> dict[str, Any]:
    return {"resourceName": "p", "selectors": list(selectors)}


@pytest.mark.parametrize(
    ("selectors", "chosen"),
    [
        ({"exclude": [{"drivers": ["vfio-pci"]}]}, [*A[:2], *B[:2]]),
        ({"pfNames": ["ens1f0"], "exclude": [{"pciAddresses": ["3b:01.1"]}]}, [A[0], A[2]]),
        ({"exclude": [{"pfNames": ["ens1f0#0-1"]}, {"rootDevices": ["af:00.0#2"]}]}, [A[2], *B[:2]]),
        ({"exclude": [{"pfNames": ["ens1f0"], "drivers": ["iavf"]}]}, [A[2], *B]),
        ({"exclude": {"numaNodes": [1]}}, A),
        ({"exclude": [{"vendors": ["15b3"]}]}, [*A, *B]),
        ({"exclude": [{"isRdma": True}, {"vdpaType": "vhost"}]}, [*A, *B]),
        ({"exclude": [{"vfOnly": True}]}, []),
        ({"numaNodes": [1]}, B),
        ({"numaNodes": [0, 1]}, [*A, *B]),
        ({"numaNodes": [2]}, []),
        ({"vfOnly": True}, [*A, *B]),
        ({"pfNames": ["re:ens[12]f0"]}, [*A, *B]),
        ({"pfNames": ["re:ENS.*#0"]}, [A[0], B[0]]),
        ({"pfNames": ["re:ens"]}, []),
        ({"pfNames": ["ens.f0"]}, []),
        ({"pfNames": ["re:ens1.*#1", "ens2f0#2", "re:.*#0"]}, [*A[:2], B[0], B[2]]),
    ],
)
def test_a_selector_chooses_what_it_says(selectors: dict[str, Any], chosen: list[str], tmp_path: Path) -> None:
    assert list(Stage(tmp_path, host(), pool(selectors)).listed("p")) == chosen


def test_what_is_excluded_goes_to_the_next_selector_or_pool(tmp_path: Path) -> None:
    rest = {"resourceName": "rest", "selectors": {"pfNames": ["ens1f0"]}}
    stage = Stage(tmp_path, host(), pool({"exclude": [{"drivers": ["vfio-pci"]}]}, {"pciAddresses": [B[2]]}), rest)

    assert list(stage.listed("p")) == [*A[:2], *B]
    assert list(stage.listed("rest")) == [A[2]]


def test_the_reason_names_what_is_excluded_and_what_was_found(tmp_path: Path) -> None:
    stage = Stage(tmp_path, host(), pool({"exclude": [{"drivers": ["vfio-pci"], "numaNodes": [0]}]}))

    assert stage.why_not(A[2]) == (
        "exclude: wanted not drivers vfio-pci and numaNodes 0, found drivers vfio-pci and numaNodes 0"
    )


def test_a_whole_port_without_vfs_is_kept_out_by_vf_only(tmp_path: Path) -> None:
    """Case D13 (1)."""
    described = host()
    described.pf("0000:d8:00.0", netdevs=["ens9f0"])
    stage = Stage(tmp_path, described, pool({"vfOnly": True}))

    assert stage.why_not("0000:d8:00.0") == "vfOnly: wanted a VF, found a function that is no VF"
    stage.start(pool({}))
    assert "0000:d8:00.0" in stage.listed("p")


def test_what_the_host_uses_is_offered_only_where_the_pool_says_so_and_is_told(tmp_path: Path) -> None:
    """Case D09: the override."""
    stage = Stage(tmp_path, host(), pool({"devices": ["1533"]}))
    assert "default route via eno1" in stage.why_not(NIC)

    stage.start(pool({"devices": ["1533"], "allowHostUse": True}))
    stage.reconcile()

    assert stage.listed("p") == {NIC: None}
    assert stage.journal.told("the host uses a device of a pool") == [
        {"resource": "intel.com/p", "device": NIC, "reason": "IPv4 default route via eno1"}
    ]
    stage.allocate("p", NIC)


def test_the_override_is_for_its_own_selector_alone(tmp_path: Path) -> None:
    """Case D09."""
    other = {"resourceName": "other", "selectors": {"devices": ["1533"]}}
    stage = Stage(tmp_path, host(), other, pool({"drivers": ["iavf"], "allowHostUse": True}, {}))

    assert NIC not in stage.listed("p")
    assert stage.listed("other") == {}
    assert stage.why_not(NIC).count("default route via eno1") == 2


def test_what_the_host_comes_to_use_later_fails_no_running_workload(tmp_path: Path) -> None:
    """Case D11: a router advertisement can bring a default route to a VF that a pod gets."""
    stage = Stage(tmp_path, host(), pool({"pfNames": ["ens1f0"]}))
    stage.laid.uses.add_default_route("ens1f0v0", "fe80::1")

    assert stage.allocate("p", A[0]).environment["PCIDEVICE_INTEL_COM_P"] == A[0]


@pytest.mark.parametrize(("numa", "chosen"), [(None, []), (-1, []), (0, [NIC])])
def test_a_function_of_no_numa_node_is_on_none(numa: int | None, chosen: list[str], tmp_path: Path) -> None:
    """Case G06."""
    single = SimHost()
    single.function(NIC, driver="igb", numa=numa)
    stage = Stage(tmp_path, single, pool({"numaNodes": [0]}))

    assert list(stage.listed("p")) == chosen

"""Attributes whose text makes no sense: no kernel writes such, and yet nothing but the fact itself may be lost."""

from pathlib import Path

import pytest

from adapters.kubelet.messages import device_list
from adapters.sysfs.host_reader import SysfsHostReader
from adapters.sysfs.routes import default_routes
from domain.host import DefaultRoute
from tests.hosts.host import SimHost
from tests.hosts.iommu import VFIO
from tests.hosts.named import h1, h2
from tests.unit.application.stage import Stage
from tests.unit.domain.facts import at

VF = "0000:3b:01.1"
POOL = {"resourceName": "p", "selectors": {}}
ROUTE4 = "eno1\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
ROUTE6 = f"{'0' * 32} 00 {'0' * 32} 00 fe80{'0' * 27}1 00000400 00000001 00000000 00000003 eno2\n"


@pytest.mark.parametrize(
    "odd", ["zz zz zz zz zz zz zz zz zz zz zz\n", "\x00" * 40 + "\n", "-1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n"]
)
def test_a_line_of_a_route_table_that_makes_no_sense_costs_itself_alone(odd: str) -> None:
    found = list(default_routes(f"Iface\n{odd}{ROUTE4}{odd}", f"{odd}{ROUTE6}{odd}"))

    assert found == [DefaultRoute("eno1", "IPv4"), DefaultRoute("eno2", "IPv6")]


@pytest.mark.parametrize("odd", ["99999999999999999999", "9" * 5000, "one", "\x00", "0x1\n0x2"])
def test_a_numa_node_that_no_message_can_hold_is_unknown(odd: str, tmp_path: Path) -> None:
    stage = Stage(tmp_path, h1())
    stage.laid.tree.text(f"{stage.laid.function(VF).path}/numa_node", odd)

    stage.start(POOL)

    assert stage.numa_nodes("p")[VF] is None
    assert device_list(stage.table.lists[stage.name("p")]).devices


@pytest.mark.parametrize("group", ["", "..", ".", "devices", "vfio"])
def test_a_group_link_that_leads_to_no_group_hands_out_no_other_node(group: str, tmp_path: Path) -> None:
    """Case E03: not a directory of nodes, and not the container node in place of the group's."""
    stage = Stage(tmp_path, h2(), {"resourceName": "p", "selectors": {"drivers": [VFIO]}})
    (stage.laid.root / "dev/vfio/devices").mkdir()
    link = stage.laid.root / stage.laid.function(VF).path / "iommu_group"
    link.unlink()
    link.symlink_to(f"../../../kernel/iommu_groups/{group}")

    assert VF in stage.refused("p", VF)


@pytest.mark.parametrize("text", ["", "DRIVER", "=", "DRIVER=\nPCI_CLASS=\nPCI_ID=\n", "PCI_CLASS=zz", "PCI_ID=8086"])
def test_a_uevent_that_tells_nothing_is_made_up_for_or_told(text: str, tmp_path: Path) -> None:
    """Case I01."""
    laid = h1().lay(tmp_path)
    laid.tree.text(f"{laid.function(VF).path}/uevent", text)

    seen = SysfsHostReader(tmp_path).read()

    found = seen.functions.get(at(VF))
    assert seen.unreadable.get(VF) or (found and (found.vendor, found.device, found.driver) == ("8086", "1889", "iavf"))
    assert sum(f.physfn is not None for f in seen.functions.values()) >= 3


@pytest.mark.parametrize("count", ["", "-4", "x", "99999999999999999999", "0"])
def test_an_odd_number_of_vfs_makes_no_device_of_a_pf_that_has_some(count: str, tmp_path: Path) -> None:
    """Case D13: the links to the VFs tell as well."""
    stage = Stage(tmp_path, h1())
    stage.laid.tree.text(f"{stage.laid.function('0000:3b:00.0').path}/sriov_numvfs", count)

    stage.start(POOL)

    assert "0000:3b:00.0" not in stage.listed("p")
    assert len(stage.listed("p")) == 4


def test_a_five_digit_domain_goes_all_the_way(tmp_path: Path) -> None:
    """Case I01: behind Intel VMD."""
    host = SimHost()
    pf = host.pf("10000:e1:00.0", netdevs=["ens9f0"], bridges=("10000:e0:00.0",))
    host.vf(pf, 0, driver=VFIO)
    stage = Stage(tmp_path, host, {"resourceName": "p", "selectors": {"rootDevices": ["10000:e1:00.0#0"]}}, cdi=True)

    (id_,) = stage.listed("p")
    assert stage.allocate("p", id_).cdi_devices == (f"intel.com/net-pci={id_}",)
    assert stage.device_info("p", id_)["pci"] == {"pci-address": id_, "pf-pci-address": "10000:e1:00.0"}

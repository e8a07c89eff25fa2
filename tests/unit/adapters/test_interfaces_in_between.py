"""Network interfaces that lie below a function by way of other devices: virtio, and whatever a driver puts between."""

from pathlib import Path

import pytest

from adapters.sysfs.host_reader import SysfsHostReader
from domain.host_use import host_uses
from tests.hosts.host import SimHost
from tests.hosts.laid import LaidHost
from tests.hosts.netdev import Netdev
from tests.hosts.vdpa import VIRTIO, VdpaDevice
from tests.unit.application.stage import Stage
from tests.unit.domain.facts import at

NIC, VF = "0000:00:03.0", "0000:3b:01.0"


def uses(laid: LaidHost) -> dict[str, str]:
    return dict(host_uses(SysfsHostReader(laid.root).read()))


def guest(tmp_path: Path, *, below: str) -> LaidHost:
    """A guest with one NIC, whose interface eth0 lies at a way below the function; it has the default route."""
    host = SimHost()
    host.function(NIC, vendor="1af4", device="1041", driver="virtio-pci", bridges=())
    host.default_route("eth0", "192.0.2.1")
    laid = host.lay(tmp_path)
    Netdev("eth0", ifindex=5).lay(laid.tree, f"{laid.function(NIC).path}/{below}")
    return laid


@pytest.mark.parametrize("below", ["virtio2", "vmbus_1/child", "usb1/1-2/1-2:1.0"])
def test_an_interface_in_between_is_the_functions_and_its_route_the_hosts(below: str, tmp_path: Path) -> None:
    """Case D10: a guest's NIC is not given away with the guest's network."""
    assert uses(guest(tmp_path, below=below)) == {NIC: "IPv4 default route via eth0"}


def test_a_bond_over_an_interface_in_between_makes_the_function_the_hosts(tmp_path: Path) -> None:
    """Case D11 (b)."""
    laid = guest(tmp_path, below="virtio2")
    laid.uses.drop_routes("eth0")
    laid.tree.text("sys/devices/virtual/net/bond0/uevent", "DEVTYPE=bond")
    laid.tree.link("sys/class/net/bond0", "sys/devices/virtual/net/bond0")
    laid.tree.link(f"{laid.function(NIC).path}/virtio2/net/eth0/master", "sys/devices/virtual/net/bond0")

    assert uses(laid) == {NIC: "bond bond0 on eth0"}


def test_a_virtio_function_is_no_candidate_while_the_host_lives_on_it(tmp_path: Path) -> None:
    """Case D10."""
    host = SimHost()
    host.function(NIC, vendor="1af4", device="1041", driver="virtio-pci", bridges=())
    stage = Stage(tmp_path, host, {"resourceName": "p", "selectors": {}})
    assert list(stage.listed("p")) == [NIC]

    Netdev("eth0", ifindex=5).lay(stage.laid.tree, f"{stage.laid.function(NIC).path}/virtio2")
    stage.laid.uses.add_default_route("eth0", "192.0.2.1")
    stage.reconcile()

    assert stage.why_not(NIC).endswith("found IPv4 default route via eth0")


def test_a_virtio_vdpa_interface_is_its_vfs_and_not_its_pfs(tmp_path: Path) -> None:
    """Case D11: the VF is the host's, its PF's other VFs are not."""
    host = SimHost()
    pf = host.pf("0000:3b:00.0", netdevs=["ens1f0"])
    host.vf(pf, 0, driver="mlx5_core", children=[VdpaDevice("vdpa0", VIRTIO, 1, netdev=Netdev("eth9"))], netdevs=())
    host.vf(pf, 1)
    host.over("bridge", "br0", "eth9")
    laid = host.lay(tmp_path)

    assert uses(laid) == {VF: "bridge br0 on eth9"}
    seen = SysfsHostReader(tmp_path).read()
    assert [i.name for i in seen.functions[at(VF)].interfaces] == ["eth9"]
    assert [i.name for i in seen.functions[at("0000:3b:00.0")].interfaces] == ["ens1f0"]


def test_a_representor_of_no_device_belongs_to_no_function(tmp_path: Path) -> None:
    """Case D01: drivers that set no parent device; the CNI side is told of it by the switch id."""
    host = SimHost()
    port = Netdev("ens1f0", phys_switch_id="aa", phys_port_name="p0")
    host.vf(host.pf("0000:3b:00.0", netdevs=[port]), 0)
    stage = Stage(tmp_path, host, {"resourceName": "p", "selectors": {"pfNames": ["ens1f0"]}})
    Netdev("eth7", ifindex=9, phys_switch_id="aa", phys_port_name="pf0vf0").lay_virtual(stage.laid.tree)
    Netdev("eth8", ifindex=10, phys_switch_id="bb", phys_port_name="pf0vf0").lay_virtual(stage.laid.tree)

    stage.reconcile()

    assert stage.device_info("p", VF)["pci"]["representor-device"] == "eth7"


@pytest.mark.parametrize("below", ["virtio2", "vmbus_1/child", "foo.eth.0"])
def test_a_function_is_granted_whose_link_type_is_that_of_an_interface_in_between(below: str, tmp_path: Path) -> None:
    """What a look finds, a second look at the one function finds too."""
    host = SimHost()
    host.function(NIC, device="1533", class_code="028000", driver="foo", bridges=())
    stage = Stage(tmp_path, host)
    Netdev("enx0", ifindex=5).lay(stage.laid.tree, f"{stage.laid.function(NIC).path}/{below}")
    stage.start({"resourceName": "p", "selectors": {"linkTypes": ["ether"]}})
    assert stage.listed("p") == {NIC: None}

    assert stage.allocate("p", NIC).environment["PCIDEVICE_INTEL_COM_P"] == NIC


def test_an_interface_in_between_that_has_left_is_not_carried_over(tmp_path: Path) -> None:
    host = SimHost()
    host.function(NIC, driver="foo", bridges=())
    laid = host.lay(tmp_path)
    directory = f"{laid.function(NIC).path}/foo.eth.0"
    interface = Netdev("enx0", ifindex=5)
    interface.lay(laid.tree, directory)
    reader = SysfsHostReader(tmp_path)
    known = reader.read()

    interface.leave_for_pod(laid.tree, directory)

    assert reader.reread(known, [NIC]).functions[at(NIC)].interfaces == ()

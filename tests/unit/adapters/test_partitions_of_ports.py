"""IPoIB interfaces for other partitions: stacked on a port, and no link in sysfs says so."""

from pathlib import Path

from adapters.sysfs.host_reader import SysfsHostReader
from domain.host_use import host_uses
from tests.hosts.host import SimHost
from tests.hosts.laid import LaidHost
from tests.hosts.netdev import ETHER, INFINIBAND, Netdev
from tests.unit.application.stage import Stage

PORT, OTHER = "0000:5e:00.0", "0000:5e:00.1"


def ports(root: Path, *above: Netdev) -> LaidHost:
    """Two InfiniBand ports, and virtual interfaces."""
    host = SimHost()
    host.function(PORT, class_code="020700", driver="mlx5_core", netdevs=[Netdev("ib0", 10, link_type=INFINIBAND)])
    host.function(OTHER, class_code="020700", driver="mlx5_core", netdevs=[Netdev("ib1", 11, link_type=INFINIBAND)])
    laid = host.lay(root)
    for interface in above:
        interface.lay_virtual(laid.tree)
    return laid


def uses(laid: LaidHost) -> dict[str, str]:
    return dict(host_uses(SysfsHostReader(laid.root).read()))


def test_a_port_with_an_interface_for_another_partition_is_the_hosts(tmp_path: Path) -> None:
    """Case D11: the default route goes through the child, and so through the port."""
    laid = ports(tmp_path, Netdev("ib0.8001", 20, link_type=INFINIBAND, iflink=10))
    laid.uses.add_default_route("ib0.8001", "192.0.2.1")

    assert uses(laid) == {PORT: "ib0.8001 on ib0"}


def test_an_interface_whose_lower_one_may_be_in_another_namespace_makes_no_port_the_hosts(tmp_path: Path) -> None:
    """A pod's veth: the index of its other end is one of the pod's namespace."""
    veth = Netdev("veth1", 20, link_type=ETHER, iflink=10)

    assert uses(ports(tmp_path, veth, Netdev("ib9", 21, link_type=INFINIBAND))) == {}


def test_such_a_port_is_in_no_pool(tmp_path: Path) -> None:
    stage = Stage(tmp_path, SimHost())
    laid = stage.laid
    for index, bdf in enumerate((PORT, OTHER)):
        netdev = Netdev(f"ib{index}", 10 + index, link_type=INFINIBAND)
        laid.add(laid.description.function(bdf, class_code="020700", driver="mlx5_core", netdevs=[netdev]))
    Netdev("ib0.8001", 20, link_type=INFINIBAND, iflink=10).lay_virtual(laid.tree)

    stage.start({"resourceName": "p", "selectors": {"linkTypes": ["infiniband"]}})

    assert list(stage.listed("p")) == [OTHER]

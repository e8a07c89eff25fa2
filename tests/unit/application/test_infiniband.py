"""InfiniBand: link types and partition keys."""

from pathlib import Path

import pytest

from tests.hosts.host import SimHost
from tests.hosts.netdev import INFINIBAND, Netdev
from tests.hosts.rdma import RdmaDevice
from tests.unit.application.stage import Stage

IB = [f"0000:5e:00.{i}" for i in range(2, 4)]
ETH = ["0000:af:00.2"]


def host() -> SimHost:
    """An InfiniBand PF with two VFs in partitions of their own, and an Ethernet PF with one VF."""
    host = SimHost()
    ib = host.pf(
        "0000:5e:00.0",
        vendor="15b3",
        class_code="020700",
        driver="mlx5_core",
        vf_driver="mlx5_core",
        offset=2,
        netdevs=[Netdev("ibs2", link_type=INFINIBAND)],
    )
    host.adopt(ib, RdmaDevice("mlx5_0", uverbs=0, link_layer="InfiniBand", pkeys=("0xffff",)))
    for index, pkeys in enumerate((("0x7fff", "0x8005"), ("0x8005", "0x7fff"))):
        vf = host.vf(ib, index, netdevs=[Netdev(f"ib{index}", link_type=INFINIBAND)])
        host.adopt(vf, RdmaDevice(f"mlx5_{index + 1}", uverbs=index + 1, link_layer="InfiniBand", pkeys=pkeys))
    eth = host.pf("0000:af:00.0", vendor="15b3", driver="mlx5_core", vf_driver="mlx5_core", offset=2, netdevs=["ens3"])
    host.vf(eth, 0)
    return host


def pool(**selectors: object) -> dict[str, object]:
    return {"resourceName": "ib", "selectors": selectors}


@pytest.mark.parametrize(
    ("link_types", "chosen"),
    [(["infiniband"], IB), (["ether"], ETH), (["ether", "infiniband"], [*IB, *ETH]), (["InfiniBand"], IB)],
)
def test_a_link_type_chooses_vfs_by_their_pf(link_types: list[str], chosen: list[str], tmp_path: Path) -> None:
    """Case D27."""
    assert list(Stage(tmp_path, host(), pool(linkTypes=link_types)).listed("ib")) == chosen


def test_an_infiniband_vf_in_a_pod_keeps_its_link_type(tmp_path: Path) -> None:
    """Cases D27, B10."""
    stage = Stage(tmp_path, host(), pool(linkTypes=["infiniband"]))
    stage.laid.move_netdev_to_pod(IB[0])

    stage.start(pool(linkTypes=["infiniband"]))

    assert list(stage.listed("ib")) == IB


@pytest.mark.parametrize(("pkey", "chosen"), [("0x7fff", IB[:1]), ("0x8005", IB[1:]), ("0X7FFF", IB[:1])])
def test_a_partition_key_chooses_the_vfs_that_have_it_at_index_0(pkey: str, chosen: list[str], tmp_path: Path) -> None:
    """Case D18: other indices do not count, as in the Go plugin."""
    assert list(Stage(tmp_path, host(), pool(pKeys=[pkey])).listed("ib")) == chosen


def test_what_has_no_partition_key_is_left_out_with_what_was_wanted(tmp_path: Path) -> None:
    """Case D18."""
    stage = Stage(tmp_path, host(), pool(pKeys=["0x7fff"]))

    assert stage.why_not(ETH[0]) == "pKeys: wanted 0x7fff, found none"
    assert stage.why_not(IB[1]) == "pKeys: wanted 0x7fff, found 0x8005"


def test_partition_keys_tell_pools_apart(tmp_path: Path) -> None:
    """Case D18: as the OpenStack and Kubernetes guides split a fabric."""
    pools = ({"resourceName": f"p{key}", "selectors": {"pKeys": [key], "isRdma": True}} for key in ("0x7fff", "0x8005"))
    stage = Stage(tmp_path, host(), *pools)

    assert [list(stage.listed(f"p{key}")) for key in ("0x7fff", "0x8005")] == [IB[:1], IB[1:]]

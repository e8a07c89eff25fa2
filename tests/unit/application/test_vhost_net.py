"""Pools that ask for vhost-net."""

from pathlib import Path

import pytest

from tests.hosts.named import h1, h2
from tests.hosts.vhost import TUN, VHOST_NET
from tests.unit.application.stage import Stage, nodes

VF = "0000:3b:01.0"
IDS = [f"0000:3b:01.{i}" for i in range(4)]
BOTH = ["/dev/vhost-net", "/dev/net/tun"]


def pool(*selectors: dict[str, object]) -> dict[str, object]:
    return {"resourceName": "net", "selectors": list(selectors)}


def test_both_nodes_are_given_and_told(tmp_path: Path) -> None:
    """Cases E13, E10."""
    host = h1()
    host.nodes += (VHOST_NET, TUN)
    stage = Stage(tmp_path, host, pool({"needVhostNet": True}))

    assert nodes(stage.allocate("net", VF)) == BOTH
    assert stage.info("net", VF)["vhost"] == {"net-mount": "/dev/vhost-net", "tun-mount": "/dev/net/tun"}
    assert stage.device_info("net", VF)["pci"]["vhost-net"] == "/dev/vhost-net"


def test_two_devices_share_both_nodes_beside_their_own(tmp_path: Path) -> None:
    """Cases E04, E13."""
    host = h2()
    host.nodes += (VHOST_NET, TUN)
    stage = Stage(tmp_path, host, pool({"needVhostNet": True}))

    got = nodes(stage.allocate("net", *IDS[:2]))

    assert got == ["/dev/vfio/vfio", "/dev/vfio/101", *BOTH, "/dev/vfio/102"]


@pytest.mark.parametrize(("there", "missing"), [(VHOST_NET, "/dev/net/tun"), (TUN, "/dev/vhost-net")])
def test_one_node_alone_is_not_given_but_refused_with_the_other(there: str, missing: str, tmp_path: Path) -> None:
    """Case E03 (d)."""
    host = h1()
    host.nodes.append(there)
    stage = Stage(tmp_path, host, pool({"needVhostNet": True}))

    reason = f"cannot be used through vhost: {missing} is missing on the host"
    assert stage.listed("net") == {id_: f"{id_} {reason}" for id_ in IDS}
    assert reason in stage.refused("net", VF)


def test_devices_are_served_when_the_modules_come(tmp_path: Path) -> None:
    stage = Stage(tmp_path, h1(), pool({"needVhostNet": True}))
    assert None not in stage.listed("net").values()

    for node in (VHOST_NET, TUN):
        stage.laid.tree.node(node)
    stage.reconcile()

    assert set(stage.listed("net").values()) == {None}
    assert nodes(stage.allocate("net", VF)) == BOTH


def test_a_node_that_went_since_the_start_fails_the_call(tmp_path: Path) -> None:
    """Case E03 (d)."""
    host = h1()
    host.nodes += (VHOST_NET, TUN)
    stage = Stage(tmp_path, host, pool({"needVhostNet": True}))
    stage.laid.tree.delete(TUN)

    assert stage.refused("net", VF) == f"{VF} cannot be used through vhost: /dev/net/tun is missing on the host"


@pytest.mark.parametrize("asking_first", [True, False])
def test_the_first_selector_that_takes_a_device_says_what_it_is_used_with(asking_first: bool, tmp_path: Path) -> None:
    """Case D26."""
    plain: dict[str, object] = {"devices": ["1889"]}
    asking: dict[str, object] = {"vendors": ["8086"], "needVhostNet": True}
    host = h1()
    host.nodes += (VHOST_NET, TUN)
    stage = Stage(tmp_path, host, pool(*((asking, plain) if asking_first else (plain, asking))))

    assert list(stage.listed("net")) == IDS
    assert nodes(stage.allocate("net", VF)) == (BOTH if asking_first else [])

from domain.host import DefaultRoute, UpperDevice
from domain.host_use import host_uses
from tests.unit.domain.facts import function, h1, host, pf, vf

NIC = "0000:01:00.0"


def test_a_default_route_of_either_family_makes_a_function_the_hosts() -> None:
    """Cases D10, D11 (a)."""
    for family in ("IPv4", "IPv6"):
        seen = host(function(NIC, interfaces=["eno1"]), default_routes=(DefaultRoute("eno1", family),))

        assert host_uses(seen) == {NIC: f"{family} default route via eno1"}


def test_whatever_is_stacked_on_an_interface_makes_it_the_hosts() -> None:
    """Case D11 (b), (c), (d): bond, bridge, VLAN; team and Open vSwitch alike."""
    for upper in (UpperDevice("bond0", "bond"), UpperDevice("br0", "bridge"), UpperDevice("ovs-system")):
        seen = host(function(NIC, interfaces=["eno1"]), uppers={"eno1": (upper,)})

        assert upper.name in host_uses(seen)[NIC]


def test_vfs_of_a_pf_the_host_uses_stay_free() -> None:
    """Case D11."""
    seen = host(pf(), vf(0, interfaces=["ens1f0v0"]), default_routes=(DefaultRoute("ens1f0", "IPv4"),))

    assert set(host_uses(seen)) == {"0000:3b:00.0"}


def test_a_vf_with_a_default_route_is_the_hosts_and_its_brothers_are_not() -> None:
    """Case D09."""
    seen = host(
        pf(),
        vf(0, interfaces=["ens1f0v0"]),
        vf(1, interfaces=["ens1f0v1"]),
        default_routes=(DefaultRoute("ens1f0v1", "IPv4"),),
    )

    assert host_uses(seen) == {"0000:3b:01.1": "IPv4 default route via ens1f0v1"}


def test_a_host_without_routes_uses_nothing() -> None:
    assert host_uses(h1()) == {}

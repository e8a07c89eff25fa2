import pytest

from domain.host import NetInterface
from domain.uplink import representor, uplink
from tests.unit.domain.facts import host, pf


def port(name: str, port_name: str | None, dev_port: int | None = None, switch: str | None = "2c3e") -> NetInterface:
    return NetInterface(name, 1, port_name, switch, dev_port)


def test_a_representor_that_sorts_before_the_uplink_does_not_name_the_pf() -> None:
    """Case D01."""
    ports = [port("0a1b2c3d4e5f607", "pf1vf5"), port("ens7f1", "p1"), port("ens7f1_0", "pf1vf0")]

    assert uplink(pf(interfaces=ports)) == ports[1]


def test_port_names_with_a_controller_are_representors_too() -> None:
    """Case D01, variant of a SmartNIC."""
    ports = [port("a", "c1pf1vf5"), port("b", "c1pf1sf8"), port("c", "c1pf1"), port("enp7s0f1np1", "p1")]

    assert uplink(pf(interfaces=ports)) == ports[3]


def test_a_split_port_is_a_physical_one() -> None:
    assert uplink(pf(interfaces=[port("x", "pf0vf0"), port("e", "p0s1")])) == port("e", "p0s1")


def test_an_interface_without_port_name_beside_representors_is_the_uplink() -> None:
    """Case I10: switchdev without a switch id."""
    ports = [port("ens7f0_1", "pf0vf1", switch=None), port("ens7f0", None, switch=None)]

    assert uplink(pf(interfaces=ports)) == ports[1]


def test_the_first_port_of_a_function_is_its_uplink_where_names_do_not_tell() -> None:
    """Case I10."""
    ports = [port("a", None, dev_port=3), port("b", None, dev_port=0), port("c", None, dev_port=1)]

    assert uplink(pf(interfaces=ports)) == ports[1]


def test_no_name_is_guessed_where_nothing_tells() -> None:
    assert uplink(pf(interfaces=[port("a", None), port("b", None)])) is None
    assert uplink(pf(interfaces=[port("a", None, 0), port("b", None, 0)])) is None


def test_a_representor_alone_is_no_uplink() -> None:
    assert uplink(pf(interfaces=[port("a", "pf0vf0")])) is None


def test_the_representor_of_a_vf_has_its_index_and_the_number_of_its_pf() -> None:
    ports = [port("up", "p1"), port("other", "pf0vf2"), port("mine", "pf1vf2"), port("sf", "pf1sf2")]
    of = pf(interfaces=ports)

    assert representor(host(of), of, "vf", 2) == ports[2]
    assert representor(host(of), of, "vf", 3) is None


def test_a_representor_below_no_function_is_found_by_the_switch_id() -> None:
    of = pf(interfaces=[port("up", "p0", switch="aa")])
    seen = host(of, port_interfaces=(port("wrong", "pf0vf1", switch="bb"), port("right", "pf0vf1", switch="aa")))

    assert representor(seen, of, "vf", 1) == seen.port_interfaces[1]


@pytest.mark.parametrize("own", ["pf0sf88", "c0pf0sf88"])
def test_a_representor_of_another_controller_stands_for_nothing_of_this_host(own: str) -> None:
    """The Arm side of a SmartNIC: the server has a subfunction of the same number."""
    ports = [port("p0", "p0"), port("a", "c1pf0sf88"), port("b", "c2pf0sf88"), port("en3f0pf0sf88", own)]
    of = pf(interfaces=ports)

    assert representor(host(of), of, "sf", 88) == ports[3]


def test_there_is_no_representor_where_only_another_controller_has_one() -> None:
    of = pf(interfaces=[port("p0", "p0"), port("a", "c1pf0sf88")])

    assert representor(host(of), of, "sf", 88) is None

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from pytest_mock import MockerFixture

from adapters.sysfs.host_reader import SysfsHostReader
from adapters.sysfs.routes import default_routes
from domain.host import DefaultRoute, Host
from tests.hosts.host import SimHost
from tests.hosts.named import h1
from tests.unit.domain.facts import at

VF1 = at("0000:3b:01.1")
DEVICES = "sys/bus/pci/devices"


def read(root: Path) -> Host:
    return SysfsHostReader(root).read()


def vfs(seen: Host) -> int:
    return sum(f.physfn is not None for f in seen.functions.values())


def test_the_number_in_the_links_name_is_the_index_even_with_a_gap(tmp_path: Path) -> None:
    """Case I06."""
    h1().lay(tmp_path)
    (tmp_path / DEVICES / "0000:3b:00.0" / "virtfn1").unlink()

    seen = read(tmp_path)

    indices = [seen.functions[at(f"0000:3b:01.{i}")].vf_index for i in range(4)]
    assert indices == [0, None, 2, 3]


def test_a_name_that_is_no_address_costs_itself_alone(tmp_path: Path) -> None:
    """Case I01."""
    h1().lay(tmp_path)
    (tmp_path / DEVICES / "no-address").mkdir()

    seen = read(tmp_path)

    assert vfs(seen) == 4
    assert "no PCI address" in seen.unreadable["no-address"]


@pytest.mark.parametrize("attribute", ["modalias", "class", "vendor", "numa_node", "driver", "net"])
def test_an_attribute_that_is_missing_costs_nobody_else(tmp_path: Path, attribute: str) -> None:
    """Case I01: uevent has most facts; what is missing besides is unknown."""
    h1().lay(tmp_path)
    path = (tmp_path / DEVICES / str(VF1)).resolve() / attribute
    if path.is_dir() and not path.is_symlink():
        path.rename(tmp_path / "away")
    else:
        path.unlink()

    assert vfs(read(tmp_path)) == 4


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.ENODEV, errno.EINVAL, errno.ENOENT])
def test_a_function_that_cannot_be_read_is_left_out_with_the_reason(
    tmp_path: Path, mocker: MockerFixture, number: int
) -> None:
    """Case I01."""
    h1().lay(tmp_path)
    refuse_uevent(mocker, str(VF1), number)

    seen = read(tmp_path)

    assert VF1 not in seen.functions
    assert vfs(seen) == 3
    assert os.strerror(number) in seen.unreadable[str(VF1)]


def refuse_uevent(mocker: MockerFixture, device: str, number: int) -> None:
    """What only an operating system does: opening a file that is there fails."""
    real = os.open

    def fails(path: str, *rest: Any) -> int:
        if str(path).endswith(f"{device}/uevent"):
            raise OSError(number, os.strerror(number), path)
        return real(path, *rest)

    mocker.patch("adapters.sysfs.tree.os.open", fails)


def test_a_function_that_vanishes_between_the_list_and_the_read_is_left_out(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    """Case I01."""
    laid = h1().lay(tmp_path)
    real = os.listdir

    def vanishes(path: str) -> list[str]:
        names = real(path)
        if str(path).endswith(DEVICES) and str(VF1) in names:
            laid.remove_function(str(VF1))
        return names

    mocker.patch("adapters.sysfs.tree.os.listdir", vanishes)

    seen = read(tmp_path)

    assert vfs(seen) == 3
    assert seen.unreadable[str(VF1)] == "gone from the host"


def test_a_tree_without_uevent_files_is_read_by_its_attributes(tmp_path: Path) -> None:
    h1().lay(tmp_path)
    for uevent in (tmp_path / "sys/devices").rglob("0000:3b:0*/uevent"):
        uevent.unlink()

    seen = read(tmp_path)

    found = seen.functions[VF1]
    assert (found.vendor, found.device, found.class_code, found.driver) == ("8086", "1889", 0x020000, "iavf")


def test_domains_of_five_digits_are_read(tmp_path: Path) -> None:
    host = SimHost()
    host.function("10000:e1:00.0", bridges=("10000:e0:00.0",))
    host.lay(tmp_path)

    assert at("10000:e1:00.0") in read(tmp_path).functions


def test_an_empty_tree_is_a_host_without_devices(tmp_path: Path) -> None:
    assert read(tmp_path) == Host()


def test_a_netdev_in_a_pod_leaves_the_vf_where_it_is(tmp_path: Path) -> None:
    """Cases B10, I12."""
    laid = h1().lay(tmp_path)
    laid.move_netdev_to_pod(str(VF1))

    found = read(tmp_path).functions[VF1]

    assert found.interfaces == ()
    assert (found.driver, found.vf_index) == ("iavf", 1)


@pytest.mark.parametrize(("written", "told"), [("0", 0), ("1", 1), ("-1", None), ("", None), ("?", None)])
def test_a_numa_node_is_told_only_where_it_is_one(tmp_path: Path, written: str, told: int | None) -> None:
    """Case G06."""
    h1().lay(tmp_path)
    (tmp_path / DEVICES / str(VF1) / "numa_node").write_text(written, encoding="utf-8")

    assert read(tmp_path).functions[VF1].numa_node == told


IPV4 = """Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eno1\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
eno2\t000200C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0
eno3\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0
*\t00000000\t00000000\t0201\t0\t0\t0\t00000000\t0\t0\t0
"""
IPV6 = """\
00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eno4
20010db8000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eno5
00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo
"""  # noqa: E501 - the kernel's own lines


def test_only_routes_to_everywhere_that_carry_traffic_are_default_routes() -> None:
    """Cases D10, I07."""
    assert list(default_routes(IPV4, IPV6)) == [DefaultRoute("eno1", "IPv4"), DefaultRoute("eno4", "IPv6")]


OWN = (
    "20010db8000000000000000000000010 80 "
    + 32 * "0"
    + " 00 "
    + 32 * "0"
    + " 00000000 00000002 00000000 80200001 eno2\n"
)
LINK_LOCAL = OWN.replace("20010db8", "fe800000")
DEFAULT = (
    32 * "0" + " 00 " + 32 * "0" + " 00 20010db8000000000000000000000001 00000400 00000001 00000000 00000003 eno2\n"
)
UNNUMBERED = DEFAULT.replace("20010db8", "fe800000")


@pytest.mark.parametrize(
    ("table", "carries"),
    [
        (DEFAULT, True),
        (OWN + DEFAULT, True),
        (LINK_LOCAL + OWN + DEFAULT, True),
        (LINK_LOCAL + DEFAULT, False),
        (LINK_LOCAL + UNNUMBERED, True),
    ],
)
def test_a_route_left_without_any_routable_address_of_the_host_carries_nothing(table: str, carries: bool) -> None:
    """Golden case guest_route_pf_with_vfs; a link-local gateway is what unnumbered uplinks have."""
    assert bool(list(default_routes("", table))) is carries


@pytest.mark.parametrize("text", ["", "Iface\n", "Iface\nshort line\n"])
def test_route_files_without_routes_are_no_error(text: str) -> None:
    assert list(default_routes(text, text)) == []

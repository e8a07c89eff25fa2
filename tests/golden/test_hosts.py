"""Simulated hosts are like the recorded ones."""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.golden.contents import contents, dangling
from tests.hosts import named
from tests.hosts.case import case_layout
from tests.hosts.ground import temporary_directory
from tests.hosts.host import SimHost
from tests.hosts.recorded import recorded
from tests.hosts.scale import scale

CASES: Final = Path(__file__).with_name("cases")
PCI: Final = "sys/bus/pci/devices"


def routes_of(case: str, table: str) -> str:
    host = json.loads((CASES / f"{case}.json").read_text())["host"]
    return str(host["files"][f"proc/net/{table}"])


@pytest.mark.parametrize(("case", "host"), [("iavf_vfs", named.h1()), ("vfio_two_numa", None)], ids=["h1", "vfio"])
def test_a_described_host_has_all_that_the_golden_case_has(case: str, host: SimHost | None, tmp_path: Path) -> None:
    recorded_host = json.loads((CASES / f"{case}.json").read_text())["host"]
    case_layout(recorded_host).lay(tmp_path / "case")
    (host or _vfio_two_numa()).lay(tmp_path / "described")
    free = {"ifindex", "address", "sriov_offset", "ipv6_route", "route", "enable"}

    want, have = contents(tmp_path / "case"), contents(tmp_path / "described")

    assert {p: have.get(p) for p in want if Path(p).name not in free} == {
        p: text for p, text in want.items() if Path(p).name not in free
    }


def _vfio_two_numa() -> SimHost:
    host = SimHost()
    for bus, name, numa, port, group in (
        ("3b", "ens1f0", 0, "01.0", 100),
        ("af", "ens5f0", 1, "03.0", 140),
    ):
        pf = host.pf(
            f"0000:{bus}:00.0",
            netdevs=[name],
            numa=numa,
            bridges=[f"0000:00:{port}"],
            iommu_group=group,
        )
        for index in range(2):
            host.vf(pf, index, driver="vfio-pci", iommu_group=group + 1 + index)
    return host


@pytest.mark.parametrize("name", ["h1", "h2", "h3", "h4", "demo"])
def test_no_link_of_a_named_host_leads_nowhere(name: str, tmp_path: Path) -> None:
    getattr(named, name)().lay(tmp_path)

    assert dangling(tmp_path) == []


def test_routes_are_in_the_text_of_the_kernel() -> None:
    host = SimHost()
    host.default_route("enp2s0", "192.0.2.1")
    host.default_route("enp1s0v1", "198.51.100.1", 500)
    host.default_route("enp2s0", "2001:db8::1", 0x400)
    host.default_route("enp1s0v1", "2001:db8:1::1", 0x800)
    with temporary_directory() as root:
        laid = host.lay(root)

        table4, table6 = (laid.tree.read(f"proc/net/{t}") for t in ("route", "ipv6_route"))

    assert table4.splitlines() == routes_of("guest_route_v4", "route").splitlines()[:3]
    assert set(table6.splitlines()[2:4]) < set(routes_of("guest_route_v6", "ipv6_route").splitlines())
    assert "ffffffff 00000001 00000000 00200200       lo" in table6


def test_a_recorded_tree_can_be_laid_out(tmp_path: Path) -> None:
    recorded().lay(tmp_path)
    device = tmp_path / PCI / "0000:01:10.6"

    assert (device / "vdpa0/driver").resolve().name == "vhost_vdpa"
    assert (device / "physfn").resolve().name == "0000:01:00.0"
    assert (device / "uevent").read_text().startswith("DRIVER=vf_vdpa_sim\nPCI_CLASS=20000\n")
    assert not (tmp_path / PCI / "0000:01:10.0/net/enp1s0v0/carrier").exists()
    assert (tmp_path / "dev/vfio/13").is_file()


def test_thousands_of_vfs_are_laid_out() -> None:
    with temporary_directory() as root:
        laid = scale(3, 256).lay(root)

        functions = laid.tree.names(PCI)
        groups = laid.tree.names("dev/vfio")

    assert len(functions) == 3 * 257 + 3
    assert len(groups) == 3 * 256 + 1

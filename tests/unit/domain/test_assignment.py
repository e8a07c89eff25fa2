from hypothesis import given
from hypothesis import strategies as st

from domain.assignment import Outcome, assign, explain
from domain.host import DefaultRoute, Host
from domain.index_ranges import IndexRanges
from domain.pf_selectors import PfNames
from domain.pool import DeviceSelector, PoolSpec
from domain.selector import Refusal
from domain.selectors import Devices, Drivers, PciAddresses, Vendors
from tests.unit.domain.facts import at, function, h1, host, pf, pool, vf


def ids(seen: Host, *pools: PoolSpec) -> dict[str, list[str]]:
    return {p.name.name: [m.device.id for m in assign(seen, pools).pools[p.name]] for p in pools}


def test_the_first_pool_in_the_file_has_a_device_that_two_select() -> None:
    """Case D08."""
    pools = pool("a", Vendors.of(["8086"])), pool("b", Drivers.of(["iavf"]))

    assert ids(h1(), *pools) == {"a": [f"0000:3b:01.{i}" for i in range(4)], "b": []}


def test_devices_are_ordered_by_address_as_numbers() -> None:
    seen = host(function("10000:00:00.0"), function("0000:ff:00.0"), function("0000:01:00.0"))

    assert ids(seen, pool("a"))["a"] == ["0000:01:00.0", "0000:ff:00.0", "10000:00:00.0"]


def test_a_pf_with_vfs_is_in_no_pool_and_one_without_is_a_device() -> None:
    """Case D13."""
    seen = host(pf(vfs=2), vf(0), vf(1), pf("0000:5e:00.0", "ens2f0", vfs=0))

    assert ids(seen, pool("a"))["a"] == ["0000:3b:01.0", "0000:3b:01.1", "0000:5e:00.0"]


def test_what_is_no_network_function_is_in_no_network_pool() -> None:
    """Case D20."""
    seen = host(function("0000:70:00.1", class_code=0x0B4000), function("0000:e0:00.1", class_code=0x030200))
    a = pool("a")

    assert ids(seen, a) == {"a": []}
    assert [t.verdicts[0].refusals for t in explain(seen, [a])] == [
        (Refusal("pciClasses", "02", "0b4000"),),
        (Refusal("pciClasses", "02", "030200"),),
    ]


def test_infiniband_controllers_are_network_functions() -> None:
    assert ids(host(function("0000:01:00.0", class_code=0x020700)), pool("a"))["a"] == ["0000:01:00.0"]


def test_a_device_is_taken_by_any_selector_object_of_a_pool() -> None:
    spec = PoolSpec(
        pool("a").name,
        (
            DeviceSelector((PciAddresses.of(["0000:3b:01.0"]), Vendors.of(["15b3"]))),
            DeviceSelector((PciAddresses.of(["0000:3b:01.1", "0000:3b:01.2"]), Vendors.of(["8086"]))),
        ),
    )

    assert ids(h1(), spec)["a"] == ["0000:3b:01.1", "0000:3b:01.2"]


def test_several_entries_for_one_pf_add_up() -> None:
    """Case D07, second half."""
    spec = pool("a", PfNames.of(IndexRanges.split(e) for e in ("ens1f0#0-1", "ens1f0#3")))

    assert ids(h1(), spec)["a"] == ["0000:3b:01.0", "0000:3b:01.1", "0000:3b:01.3"]


def test_a_name_that_is_the_start_of_another_does_not_stand_for_it() -> None:
    """Case D04."""
    seen = host(
        pf("0000:01:00.0", "ens3", vfs=1),
        pf("0000:02:00.0", "ens3f0", vfs=1),
        vf(0, "0000:01:10.0", "0000:01:00.0"),
        vf(0, "0000:02:10.0", "0000:02:00.0"),
    )

    assert ids(seen, pool("a", PfNames.of([IndexRanges.split("ens3f0")])))["a"] == ["0000:02:10.0"]


def test_the_trail_names_for_each_pool_the_first_selector_that_refused() -> None:
    """Case H01."""
    seen = host(
        pf(),
        vf(0),
        vf(1, driver=None),
        vf(2),
        function("0000:01:00.0", interfaces=["eno1"]),
        default_routes=(DefaultRoute("eno1", "IPv4"),),
    )
    a = pool("a", PciAddresses.of(["0000:3b:01.2"]))
    b = pool("b", Vendors.of(["8086"]), PfNames.of([IndexRanges.split("ens1f9")]))
    c = pool("c", Devices.of(["1889"]), PciAddresses.of(["0000:3b:01.2"]))

    trails = {trail.device.id: trail for trail in explain(seen, [a, b, c])}

    assert trails["0000:3b:00.0"].unusable == Refusal("PF with VFs", "a VF, or a PF without VFs", "4 VFs configured")
    assert trails["0000:3b:01.1"].unusable == Refusal("driver", "any driver", "none bound")
    route = Refusal("host use", "not needed by the host itself", "IPv4 default route via eno1")
    assert trails["0000:01:00.0"].unusable == route
    assert trails["0000:3b:01.0"].pool is None
    assert trails["0000:3b:01.0"].verdicts[1].refusals == (Refusal("pfNames", "ens1f9", "ens1f0#0"),)
    assert trails["0000:3b:01.2"].pool == a.name
    assert [v.outcome for v in trails["0000:3b:01.2"].verdicts] == [
        Outcome.TAKEN,
        Outcome.REFUSED,
        Outcome.TAKEN_BEFORE,
    ]


@given(st.lists(st.sampled_from(["8086", "15b3", "14e4"]), min_size=1, max_size=6), st.data())
def test_explanation_and_assignment_never_disagree(vendors: list[str], data: st.DataObject) -> None:
    seen = host(
        *(
            function(
                f"0000:01:00.{n}",
                vendor=vendor,
                driver=data.draw(st.sampled_from(["iavf", "vfio-pci", None])),
                vf_count=data.draw(st.sampled_from([0, 0, 2])),
            )
            for n, vendor in enumerate(vendors)
        )
    )
    pools = [pool(f"p{n}", Vendors.of([data.draw(st.sampled_from(vendors))]), Drivers.of(["iavf"])) for n in range(3)]

    owners = {m.device.id: name for name, members in assign(seen, pools).pools.items() for m in members}

    assert {t.device.id: t.pool for t in explain(seen, pools) if t.pool} == owners
    assert all(t.unusable or t.pool or all(v.refusals for v in t.verdicts) for t in explain(seen, pools))


def test_an_address_can_be_selected_in_the_short_form() -> None:
    assert ids(h1(), pool("a", PciAddresses.of([at("3b:01.3")])))["a"] == ["0000:3b:01.3"]

"""Allocation at admission and the start of containers (facts/kubelet.md 5.5 to 5.8, 8.1, 8.8, 8.9)."""

import asyncio
import time
from pathlib import Path
from typing import Any

import grpc
import pytest

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as dp
from tests.contract.kubelet_fake.stage import REAL, Stage, story
from tests.fakes.kubelet import Container
from tests.fakes.plugin import (
    RESOURCE,
    ScriptedPlugin,
    answering,
    device,
    failing,
    granting,
    preferring,
    slow,
)

Asked = tuple[str, list[str], list[str], int]


def asked(plugin: ScriptedPlugin) -> list[Asked]:
    """(method, ids, must-include ids, size) of the calls for devices, ids sorted."""
    calls: list[Asked] = []
    for seen in plugin.seen:
        if seen.method == "Allocate":
            ids = sorted(seen.request.container_requests[0].devices_ids)
            calls.append(("Allocate", ids, [], len(ids)))
        elif seen.method == "GetPreferredAllocation":
            [wanted] = seen.request.container_requests
            available, included = wanted.available_deviceIDs, wanted.must_include_deviceIDs
            size = wanted.allocation_size
            calls.append(("Preferred", sorted(available), sorted(included), size))
    return calls


@story
async def test_each_call_is_for_one_container(directory: Path) -> None:
    """Item 27: also for a pod with two that want two resources."""
    async with Stage(directory) as stage:
        plugins = [await stage.registered(f"p{n}.sock", resource=f"ex.com/r{n}") for n in range(2)]
        wants = {"ex.com/r0": 1, "ex.com/r1": 2}
        verdict = await stage.kubelet.admit("a", wants, init=[Container("i0", wants, sidecar=True)])
        assert verdict.admitted
        for plugin, size in zip(plugins, (1, 2), strict=True):
            requests = plugin.requests("Allocate")
            assert [len(request.container_requests) for request in requests] == [1, 1]
            assert all(len(r.container_requests[0].devices_ids) == size for r in requests)


@story
async def test_the_ids_come_in_no_order(directory: Path) -> None:
    """Item 27: and differently each time."""
    async with Stage(directory) as stage:
        ids = [f"d{number}" for number in range(8)]
        plugin = await stage.registered(devices=ids)
        for number in range(4):
            await stage.kubelet.admit(f"a{number}", {RESOURCE: 8})
            await stage.kubelet.terminate(f"a{number}")
        orders = {tuple(r.container_requests[0].devices_ids) for r in plugin.requests("Allocate")}
        assert len(orders) > 1
        assert all(sorted(order) == ids for order in orders)


@story
async def test_devices_of_init_containers_are_used_again(directory: Path) -> None:
    """Item 28: with another Allocate for the same ids and no question of preference."""
    async with Stage(directory) as stage:
        plugin = await stage.registered(preferred=True)
        init = [Container("i0", {RESOURCE: 1}), Container("i1", {RESOURCE: 2})]
        verdict = await stage.kubelet.admit("a", {RESOURCE: 2}, init=init)
        assert {name: c.env["DEVS"] for name, c in verdict.containers.items()} == {
            "i0": "d0",
            "i1": "d0,d1",
            "c0": "d0,d1",
        }
        everything = ["d0", "d1", "d2", "d3"]
        assert asked(plugin) == [
            ("Preferred", everything, [], 1),
            ("Allocate", ["d0"], [], 1),
            ("Preferred", everything, ["d0"], 2),
            ("Allocate", ["d0", "d1"], [], 2),
            ("Allocate", ["d0", "d1"], [], 2),
        ]


@story
async def test_sidecars_keep_their_devices(directory: Path) -> None:
    """Item 28."""
    async with Stage(directory) as stage:
        plugin = await stage.registered(preferred=True)
        init = [Container("side", {RESOURCE: 1}, sidecar=True), Container("i1", {RESOURCE: 2})]
        verdict = await stage.kubelet.admit("a", {RESOURCE: 2}, init=init)
        assert {name: c.env["DEVS"] for name, c in verdict.containers.items()} == {
            "side": "d0",
            "i1": "d1,d2",
            "c0": "d1,d2",
        }
        assert asked(plugin)[2] == ("Preferred", ["d1", "d2", "d3"], [], 2)


@story
async def test_preference_is_asked_for_even_where_there_is_no_choice(directory: Path) -> None:
    """Item 29: without topology every allocation asks, the last device included."""
    async with Stage(directory) as stage:
        plugin = await stage.registered(preferred=True, devices=["d0", "d1"])
        await stage.kubelet.admit("a", {RESOURCE: 2})
        assert asked(plugin) == [
            ("Preferred", ["d0", "d1"], [], 2),
            ("Allocate", ["d0", "d1"], [], 2),
        ]


@story
async def test_preference_with_topology_is_asked_among_the_aligned(directory: Path) -> None:
    """Item 29: not at all when they are just enough."""
    devices = [device(f"d{n}", numa=[n // 2]) for n in range(4)]
    async with Stage(directory, single_numa_node=True) as stage:
        plugin = await stage.registered(preferred=True, devices=devices)
        assert (await stage.kubelet.admit("a", {RESOURCE: 1})).admitted
        assert asked(plugin) == [
            ("Preferred", ["d0", "d1"], [], 1),
            ("Allocate", ["d0"], [], 1),
        ]
        assert (await stage.kubelet.admit("b", {RESOURCE: 2})).admitted
        assert asked(plugin)[2:] == [("Allocate", ["d2", "d3"], [], 2)]
        refused = await stage.kubelet.admit("c", {RESOURCE: 2})
        assert refused.reason == "TopologyAffinityError"
        assert refused.message == "Resources cannot be allocated with Topology locality"


@story
async def test_preference_is_not_asked_for_unless_offered(directory: Path) -> None:
    """Item 29."""
    async with Stage(directory) as stage:
        plugin = await stage.registered(preferred=False)
        await stage.kubelet.admit("a", {RESOURCE: 1})
        assert [method for method, *_ in asked(plugin)] == ["Allocate"]


@story
async def test_a_failing_preference_fails_the_pod(directory: Path) -> None:
    """Item 30."""
    async with Stage(directory) as stage:
        plugin = await stage.registered(preferred=True)
        internal = failing(grpc.StatusCode.INTERNAL, "no idea")
        plugin.scripts["GetPreferredAllocation"] = internal
        refused = await stage.kubelet.admit("a", {RESOURCE: 1})
        assert refused.reason == "UnexpectedAdmissionError"
        assert refused.message == (
            "Allocate failed due to device plugin GetPreferredAllocation rpc failed with err: "
            "rpc error: code = Internal desc = no idea, which is unexpected"
        )
        assert "Allocate" not in plugin.methods


@story
async def test_garbage_in_a_preference_is_passed_over_and_a_short_one_filled_up(
    directory: Path,
) -> None:
    """Item 30."""
    async with Stage(directory) as stage:
        plugin = await stage.registered(preferred=True)
        plugin.scripts["GetPreferredAllocation"] = answering(preferring(["zzz", "d3"]))
        await stage.kubelet.admit("a", {RESOURCE: 2})
        ids = asked(plugin)[-1][1]
        assert len(ids) == 2
        assert "d3" in ids
        assert "zzz" not in ids
        plugin.scripts["GetPreferredAllocation"] = answering(dp.PreferredAllocationResponse())
        assert (await stage.kubelet.admit("b", {RESOURCE: 1})).admitted


@story
async def test_an_allocate_error_fails_the_pod_with_its_text(directory: Path) -> None:
    """Item 31: and gives the devices back."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        plugin.scripts["Allocate"] = failing(grpc.StatusCode.NOT_FOUND, "no such device", times=1)
        refused = await stage.kubelet.admit("a", {RESOURCE: 2})
        assert refused.reason == "UnexpectedAdmissionError"
        assert refused.message == (
            "Allocate failed due to rpc error: code = NotFound desc = no such device, which is unexpected"
        )
        assert (await stage.kubelet.admit("b", {RESOURCE: 4})).admitted


@story
async def test_an_answer_without_responses_fails_the_pod_and_leaks_the_devices(
    directory: Path,
) -> None:
    """Item 31, 8.8: until a pod ends that held some."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        plugin.scripts["Allocate"] = answering(dp.AllocateResponse())
        refused = await stage.kubelet.admit("a", {RESOURCE: 3})
        assert "no containers return in allocation response" in refused.message
        plugin.scripts.clear()
        short = await stage.kubelet.admit("b", {RESOURCE: 4})
        assert "Requested: 4, Available: 1" in short.message
        assert (await stage.kubelet.admit("c", {RESOURCE: 1})).admitted
        await stage.kubelet.terminate("c")
        assert (await stage.kubelet.admit("d", {RESOURCE: 4})).admitted


@story
async def test_only_the_first_response_counts(directory: Path) -> None:
    """Item 31."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        responses = [granting(["x"]), granting(["y"])]
        plugin.scripts["Allocate"] = answering(dp.AllocateResponse(container_responses=responses))
        verdict = await stage.kubelet.admit("a", {RESOURCE: 1})
        assert verdict.containers["c0"].env == {"DEVS": "x"}


@story
async def test_a_slow_allocate_holds_up_every_other_pod(directory: Path) -> None:
    """Item 32: even one without devices; there is no deadline."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        plugin.scripts["Allocate"] = slow(1.0)
        began = time.monotonic()
        first = asyncio.create_task(stage.kubelet.admit("a", {RESOURCE: 1}))
        await stage.kubelet.wait_for(lambda: "Allocate" in plugin.methods)
        assert await stage.counts() == (4, 4)  # the rest of the kubelet lives
        assert (await stage.kubelet.admit("b")).admitted
        assert time.monotonic() - began >= 1.0
        assert (await first).admitted
        assert plugin.seen[-1].deadline is None


@story
async def test_a_container_start_uses_the_kept_answer(directory: Path) -> None:
    """Item 33: no second Allocate; PreStartContainer each time, with 30 s."""
    async with Stage(directory) as stage:
        plugin = await stage.registered(pre_start=True)
        verdict = await stage.kubelet.admit("a", {RESOURCE: 2})
        again = await stage.kubelet.start("a", "c0")
        assert again == verdict.containers["c0"]
        assert again.env["DEVS"] == ",".join(asked(plugin)[0][1])
        assert len(plugin.requests("Allocate")) == 1
        starts = plugin.requests("PreStartContainer")
        assert [sorted(r.devices_ids) for r in starts] == [asked(plugin)[0][1]] * 2
        assert plugin.seen[-1].deadline == pytest.approx(30 if REAL else 0.4, abs=0.2)


@story
async def test_a_failing_pre_start_stops_the_container_and_not_the_pod(directory: Path) -> None:
    """Item 34: CreateContainerConfigError, tried again; so with the plugin down."""
    async with Stage(directory) as stage:
        plugin = await stage.registered(pre_start=True)
        internal = failing(grpc.StatusCode.INTERNAL, "not today", times=1)
        plugin.scripts["PreStartContainer"] = internal
        verdict = await stage.kubelet.admit("a", {RESOURCE: 1})
        assert verdict.admitted
        assert verdict.containers["c0"].error == (
            "device plugin PreStartContainer rpc failed with err: rpc error: code = Internal desc = not today"
        )
        assert not (await stage.kubelet.start("a", "c0")).error
        await plugin.stop()
        await stage.kubelet.wait_allocatable(RESOURCE, 0)
        error = (await stage.kubelet.start("a", "c0")).error
        assert error.startswith("device plugin PreStartContainer rpc failed with err: endpoint ")
        assert error.endswith("has been stopped")


@story
async def test_a_hanging_pre_start_is_given_up(directory: Path) -> None:
    """Item 34."""
    async with Stage(directory) as stage:
        plugin = await stage.registered(pre_start=True)
        plugin.scripts["PreStartContainer"] = slow(40.0 if REAL else 5.0)
        verdict = await stage.kubelet.admit("a", {RESOURCE: 1})
        error = verdict.containers["c0"].error
        assert error.startswith(
            "device plugin PreStartContainer rpc failed with err: rpc error: code = DeadlineExceeded"
        )
        # Whose deadline it was, the caller's context's or the transport's, is a race, and so are the words.
        assert error.lower().endswith("deadline exceeded")


@story
async def test_a_plugin_gone_for_long_stops_container_starts(directory: Path) -> None:
    """8.1: also if it never asked for PreStartContainer."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        await stage.kubelet.admit("a", {RESOURCE: 1})
        await plugin.stop()
        await stage.kubelet.wait_allocatable(RESOURCE, 0)
        assert not (await stage.kubelet.start("a", "c0")).error
        await stage.kubelet.expire(RESOURCE)
        await stage.kubelet.capacity()
        error = (await stage.kubelet.start("a", "c0")).error
        assert error == f"endpoint not found in cache for a registered resource: {RESOURCE}"
        await plugin.serve("p2.sock")
        await plugin.register()
        await stage.kubelet.wait_allocatable(RESOURCE, 4)
        assert not (await stage.kubelet.start("a", "c0")).error


@story
async def test_a_device_that_falls_ill_after_the_choice_is_allocated_all_the_same(
    directory: Path,
) -> None:
    """Item 35."""
    async with Stage(directory) as stage:
        plugin = await stage.registered(devices=["d0"])

        async def fall_ill(request: Any, context: Any) -> None:
            plugin.push(d0="Unhealthy")
            await stage.kubelet.wait_allocatable(RESOURCE, 0)

        plugin.scripts["Allocate"] = fall_ill
        assert (await stage.kubelet.admit("a", {RESOURCE: 1})).admitted
        [status] = (await stage.kubelet.health("a"))["c0"]
        assert status == {
            "name": RESOURCE,
            "resources": [{"resourceID": "d0", "health": "Unhealthy"}],
        }


@pytest.mark.parametrize("version", ["1.35", "1.37"])
@story
async def test_a_claimed_resource_is_left_to_dra_from_1_36_on(directory: Path, version: str) -> None:
    """Item 38."""
    quantity = {RESOURCE: "2"}
    mapping = {"containerName": "c0", "resourceName": RESOURCE, "requestName": "r"}
    pod = {
        "metadata": {"uid": "a"},
        "spec": {"containers": [{"name": "c0", "resources": {"limits": quantity, "requests": quantity}}]},
        "status": {
            "extendedResourceClaimStatus": {
                "resourceClaimName": "claim",
                "requestMappings": [mapping],
            }
        },
    }
    async with Stage(directory, version) as stage:
        plugin = await stage.registered()
        assert (await stage.kubelet.admit(pod=pod)).admitted
        assert ("Allocate" in plugin.methods) == (version == "1.35")


@story
async def test_the_end_of_a_pod_is_told_to_nobody(directory: Path) -> None:
    """Item 39: the device is given out again, that is all."""
    async with Stage(directory) as stage:
        plugin = await stage.registered(devices=["d0"])
        await stage.kubelet.admit("a", {RESOURCE: 1})
        full = await stage.kubelet.admit("b", {RESOURCE: 1})
        assert full.message == (
            f"Allocate failed due to requested number of devices unavailable for {RESOURCE}. "
            "Requested: 1, Available: 0, which is unexpected"
        )
        seen = len(plugin.seen)
        await stage.kubelet.terminate("a")
        await stage.pause()
        assert len(plugin.seen) == seen
        assert (await stage.kubelet.admit("c", {RESOURCE: 1})).containers["c0"].env["DEVS"] == "d0"


@story
async def test_an_id_of_two_resources_is_given_to_two_pods(directory: Path) -> None:
    """Item 40: ids are known within a resource only."""
    async with Stage(directory) as stage:
        await stage.registered("p.sock", devices=["d0"])
        await stage.registered("q.sock", devices=["d0"], resource="ex.com/other")
        first = await stage.kubelet.admit("a", {RESOURCE: 1})
        second = await stage.kubelet.admit("b", {"ex.com/other": 1})
        assert first.containers["c0"].env == second.containers["c0"].env == {"DEVS": "d0"}


@story
async def test_an_unknown_resource_is_not_an_admission_error(directory: Path) -> None:
    """8.9: the pod runs without."""
    async with Stage(directory) as stage:
        verdict = await stage.kubelet.admit("a", {"ex.com/never": 1})
        assert verdict.admitted
        assert verdict.containers["c0"].env == {}
        assert verdict.containers["c0"].devices == ()


@story
async def test_a_pod_that_wants_more_than_the_node_has_is_out_of_it(directory: Path) -> None:
    """5.5.11: by the Node as it was last written, after the devices were allocated."""
    async with Stage(directory) as stage:
        plugin = await stage.registered(devices=["d0"])
        await stage.kubelet.capacity()
        plugin.devices = [device("d0"), device("d1")]
        plugin.push()
        if not REAL:  # the harness's wait looks at the Node and so writes it
            await stage.kubelet.wait_allocatable(RESOURCE, 2)
            await stage.kubelet.admit("a", {RESOURCE: 1})
            refused = await stage.kubelet.admit("b", {RESOURCE: 1})
            assert refused.admitted  # what is held counts as allocatable


@pytest.mark.parametrize(("version", "told"), [("1.36", {"a", "b"}), ("1.37", {"b"})])
@story
async def test_a_change_of_health_is_told_for_the_pod(directory: Path, version: str, told: set[str]) -> None:
    """Section 8.6: up to 1.36 perhaps for another pod with the same id."""
    async with Stage(directory, version) as stage:
        await stage.registered("p.sock", devices=["d0"])
        other = await stage.registered("q.sock", devices=["d0"], resource="ex.com/other")
        await stage.kubelet.admit("a", {RESOURCE: 1})
        await stage.kubelet.admit("b", {"ex.com/other": 1})
        await stage.kubelet.updates()
        other.push(d0="Unhealthy")
        async with asyncio.timeout(60):
            while not (updates := await stage.kubelet.updates()):
                await asyncio.sleep(0.02)  # they come after the list was taken over
        [[pod]] = updates
        assert pod in told


@story
async def test_health_is_as_last_reported_and_healthy_for_what_is_not_listed(
    directory: Path,
) -> None:
    """5.2: neither a lost plugin nor a dropped device shows."""
    async with Stage(directory) as stage:
        plugin = await stage.registered(preferred=True)
        await stage.kubelet.admit("a", {RESOURCE: 1})

        async def health() -> str:
            [status] = (await stage.kubelet.health("a"))["c0"]
            return str(status["resources"][0]["health"])

        plugin.push(d0="Unhealthy")
        await stage.kubelet.wait_allocatable(RESOURCE, 3)
        assert await health() == "Unhealthy"
        plugin.drop("d0", "d1")
        await stage.kubelet.wait_allocatable(RESOURCE, 2)
        assert await health() == "Healthy"
        await plugin.stop()
        await stage.kubelet.wait_allocatable(RESOURCE, 0)
        assert await health() == "Healthy"

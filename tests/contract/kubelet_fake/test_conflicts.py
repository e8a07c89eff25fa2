"""Answers that contradict each other, and pods that change what they ask for (facts/kubelet.md 5.5, 5.7)."""

from pathlib import Path

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as dp
from tests.contract.kubelet_fake.stage import Stage, story
from tests.fakes.plugin import RESOURCE, answering

WANTS = {"ex.com/r0": 1, "ex.com/r1": 1}


def answer(number: int) -> dp.AllocateResponse:
    """The same names as every other plugin's, for other things."""
    response = dp.ContainerAllocateResponse(
        envs={"SAME": str(number), f"OWN{number}": "x"},
        annotations={"ex.com/same": str(number)},
        mounts=[dp.Mount(container_path="/same", host_path=f"/host{number}", read_only=True)],
        devices=[dp.DeviceSpec(container_path="/dev/same", host_path=f"/dev/host{number}", permissions="rw")],
        cdi_devices=[dp.CDIDevice(name="ex.com/dev=same"), dp.CDIDevice(name=f"ex.com/dev=own{number}")],
    )
    return dp.AllocateResponse(container_responses=[response])


@story
async def test_of_two_answers_with_one_name_one_counts(directory: Path) -> None:
    """5.7: which one is left to chance. What lies at one path in the container is given once, and a CDI name too."""
    async with Stage(directory) as stage:
        for number in range(2):
            plugin = await stage.registered(f"p{number}.sock", resource=f"ex.com/r{number}")
            plugin.scripts["Allocate"] = answering(answer(number))
        started = (await stage.kubelet.admit("a", WANTS)).containers["c0"]
        assert started.env["SAME"] in {"0", "1"}
        assert {"OWN0", "OWN1"} <= started.env.keys()
        assert [mount["container"] for mount in started.mounts] == ["/same"]
        assert [node["container"] for node in started.devices] == ["/dev/same"]
        assert sorted(started.cdi) == ["ex.com/dev=own0", "ex.com/dev=own1", "ex.com/dev=same"]
        assert started.annotations["ex.com/same"] in {"0", "1"}


@story
async def test_a_pod_that_asks_for_another_number_is_refused(directory: Path) -> None:
    """5.5.3."""
    async with Stage(directory) as stage:
        plugin = await stage.registered()
        assert (await stage.kubelet.admit("a", {RESOURCE: 1})).admitted
        refused = await stage.kubelet.admit("a", {RESOURCE: 2})
        assert refused.reason == "UnexpectedAdmissionError"
        assert f'changed request for resource "{RESOURCE}" from 1 to 2' in refused.message
        assert len(plugin.requests("Allocate")) == 1


@story
async def test_the_directory_of_the_sockets_is_open_to_look_at(directory: Path) -> None:
    """8.7."""
    async with Stage(directory):
        assert (directory / "device-plugins").stat().st_mode & 0o777 == 0o755

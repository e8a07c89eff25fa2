"""The comparer knows right answers from wrong ones."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.golden.case import HERE, Answer, load, names
from tests.golden.compare import differences
from tests.golden.injected import injected

DPDK = "intel.com/dpdk"
VARIABLE = "PCIDEVICE_INTEL_COM_DPDK"


def recording(name: str) -> dict[str, Any]:
    case: dict[str, Any] = json.loads((HERE / "cases" / f"{name}.json").read_text())
    return case


def responses(answer: Answer) -> list[dict[str, Any]]:
    calls = [call for resource in answer["resources"].values() for call in resource["calls"]]
    return [response for call in calls if isinstance(call["response"], list) for response in call["response"]]


def go_answer(name: str) -> Answer:
    """What the Go plugin answered, but for the order of ids, which it leaves as requested."""
    answer: Answer = recording(name)["answer"]
    for response in responses(answer):
        for variable, value in response["envs"].items():
            if not variable.endswith("_INFO"):
                response["envs"][variable] = ",".join(sorted(value.split(",")))
    return answer


@pytest.mark.parametrize("name", names())
def test_the_go_plugin_is_right_where_the_recording_says_so(name: str) -> None:
    found = differences(load(name), go_answer(name))

    assert (found == []) == recording(name)["right"]


def test_ids_in_the_order_of_the_request_are_wrong() -> None:
    found = differences(load("vfio_two_numa"), recording("vfio_two_numa")["answer"])

    assert len(found) == 1
    assert f"{VARIABLE}=0000:3b:01.1,0000:3b:01.0, wanted 0000:3b:01.0,0000:3b:01.1" in found[0]


def rename_socket(answer: Answer) -> None:
    answer["resources"][DPDK]["socket"] = "other.sock"


def empty_endpoint(answer: Answer) -> None:
    answer["resources"][DPDK]["info"] |= {"endpoint": "", "supported_versions": ["v1beta1"]}


def other_code(answer: Answer) -> None:
    answer["exit"] = 2


def lose_device(answer: Answer) -> None:
    answer["resources"][DPDK]["devices"].pop()


def lose_call(answer: Answer) -> None:
    answer["resources"][DPDK]["calls"].pop()


def lose_node(answer: Answer) -> None:
    responses(answer)[0]["injected"].pop()


def repeat_node(answer: Answer) -> None:
    nodes = responses(answer)[0]["injected"]
    nodes.append(nodes[0])


def shuffle_nodes(answer: Answer) -> None:
    responses(answer)[0]["injected"].reverse()


def add_key_to_info(answer: Answer) -> None:
    envs = responses(answer)[0]["envs"]
    envs[f"{VARIABLE}_INFO"] = envs[f"{VARIABLE}_INFO"].replace('"vfio":{', '"vfio":{"more":"1",')


def lose_key_of_info(answer: Answer) -> None:
    envs = responses(answer)[0]["envs"]
    envs[f"{VARIABLE}_INFO"] = envs[f"{VARIABLE}_INFO"].replace("dev-mount", "else")


def add_variable(answer: Answer) -> None:
    responses(answer)[0]["envs"]["MORE"] = "1"


def lose_file(answer: Answer) -> None:
    answer["devinfo"].pop("intel.com-dpdk-0000:3b:01.0-device.json")


def add_file(answer: Answer) -> None:
    answer["devinfo"]["intel.com-dpdk-0000:ff:01.0-device.json"] = {}


@pytest.mark.parametrize("change", [empty_endpoint, shuffle_nodes, add_key_to_info])
def test_what_the_rules_leave_free_is_right(change: Callable[[Answer], None]) -> None:
    answer = go_answer("vfio_two_numa")
    change(answer)

    assert differences(load("vfio_two_numa"), answer) == []


@pytest.mark.parametrize(
    "change",
    [
        rename_socket,
        other_code,
        lose_device,
        lose_call,
        lose_node,
        repeat_node,
        lose_key_of_info,
        add_variable,
        lose_file,
        add_file,
    ],
)
def test_any_other_difference_is_told(change: Callable[[Answer], None]) -> None:
    answer = go_answer("vfio_two_numa")
    change(answer)

    assert differences(load("vfio_two_numa"), answer) != []


def test_an_alias_that_a_shell_can_name_must_be_the_same() -> None:
    case = load("vfio_two_numa")
    right = case.right[0]
    for response in responses(right):
        response["envs"] = {name.replace("INTEL", "IN-TEL"): value for name, value in response["envs"].items()}
    answer = json.loads(json.dumps(go_answer("vfio_two_numa")).replace("DEVICE_INTEL", "DEVICE_IN-TEL"))
    envs = responses(answer)[0]["envs"]
    envs["PCIDEVICE_IN_TEL_COM_DPDK"] = envs["PCIDEVICE_IN-TEL_COM_DPDK"]

    assert differences(case, answer) == []

    envs["PCIDEVICE_IN_TEL_COM_DPDK"] = "0000:ff:00.0"

    assert "is not the same as PCIDEVICE_IN-TEL_COM_DPDK" in differences(case, answer)[0]


@pytest.mark.parametrize("name", [name for name in names() if "cdi" in name])
def test_the_names_of_cdi_devices_lead_to_their_nodes(name: str) -> None:
    answer = recording(name)["answer"]

    for response in responses(answer):
        assert sorted(injected(response, answer["cdi"])) == sorted(response["injected"])


def test_a_node_that_the_response_and_cdi_both_bring_is_there_twice() -> None:
    answer = recording("cdi_one_pool")["answer"]
    response = responses(answer)[0]
    response["devices"] = [["/dev/vfio/vfio", "/dev/vfio/vfio", "rw"]]

    assert injected(response, answer["cdi"]).count(response["devices"][0]) == 2


def test_a_cdi_name_that_nothing_defines_is_an_error() -> None:
    answer = recording("cdi_one_pool")["answer"]

    with pytest.raises(LookupError, match="unresolvable CDI device intel"):
        injected(responses(answer)[0], {})

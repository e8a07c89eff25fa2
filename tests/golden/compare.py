"""Compare an answer with the right one, by the rules of the recordings.

1. ``exit``: zero or not, not the number.
2. The name of a classic socket is free, but Register must name it; ``endpoint`` of GetInfo may be
   empty; ``supported_versions`` must hold ``v1beta1``.
3. ``PCIDEVICE_*``: the same ids, sorted. ``*_INFO``: compared as JSON, more keys are allowed, none
   may miss. Beyond these only a shell-safe alias of the same variable.
4. Device nodes: ``injected`` as a set without duplicates, however CDI brings them.
5. Device-info: the recorded files with at least the recorded content; files for other served
   devices are allowed.
6. Devices are compared sorted by id.
"""

from collections.abc import Iterator
from typing import Any

from tests.golden.case import Answer, Case
from tests.golden.compare_response import same_response, within


def differences(case: Case, got: Answer) -> list[str]:
    """How *got* differs from the right answer; empty when it is one of the right ones."""
    first, *others = ([*_answer(want, got)] for want in case.right)
    return [] if first and [] in others else first


def _answer(want: Answer, got: Answer) -> Iterator[str]:
    if want["start"] != got["start"]:
        yield f"start: {got['start']}, wanted {want['start']}; log:\n{got.get('log')}"
        return
    if (want["exit"] == 0) != (got["exit"] == 0):
        yield f"exit: {got['exit']}, wanted {want['exit']}"
    for text in want.get("names", ()):
        if text not in got.get("log", ""):
            yield f"log does not name {text}"
    if "resources_devices" in want:
        ids = {name: [d["id"] for d in r["devices"]] for name, r in got["resources"].items()}
        if ids != want["resources_devices"]:
            yield f"devices: {ids}, wanted {want['resources_devices']}"
    elif set(want["resources"]) != set(got["resources"]):
        yield f"resources: {sorted(got['resources'])}, wanted {sorted(want['resources'])}"
    else:
        yield from _resources(want, got)


def _resources(want: Answer, got: Answer) -> Iterator[str]:
    for name, resource in want["resources"].items():
        for found in _resource(resource, got["resources"][name]):
            yield f"{name}: {found}"
    yield from _info(want, got)
    yield from _device_info(want, got)
    if want.get("annotation_keys_differ"):
        yield from _annotation_keys(got)


def _resource(want: Answer, got: Answer) -> Iterator[str]:
    if want["options"] != got["options"]:
        yield f"options: {got['options']}, wanted {want['options']}"
    yield from _introduction(want, got)
    free = {d["id"] for d in want["devices"] if d["health"] == "any"}
    devices = [{**d, "health": "any"} if d["id"] in free else d for d in got["devices"]]
    if want["devices"] != devices:
        yield f"devices: {devices}, wanted {want['devices']}"
        return
    for call in want["calls"]:
        tried = [c["response"] for c in got["calls"] if c["request"] == call["request"]]
        found = same_response(call["response"], tried[0]) if tried else ["not tried"]
        for difference in found:
            yield f"Allocate {call['request']}: {difference}"


def _introduction(want: Answer, got: Answer) -> Iterator[str]:
    """How the plugin introduces a resource: GetInfo or Register."""
    if "info" in want:
        if want["socket"] != got["socket"]:
            yield f"socket: {got['socket']}, wanted {want['socket']}"
        right, info = want["info"], got["info"]
        known = all(right[key] == info[key] for key in ("type", "name"))
        if not known or info["endpoint"] not in {"", right["endpoint"]} or "v1beta1" not in info["supported_versions"]:
            yield f"info: {info}, wanted {right}"
        return
    right, register = want["register"], got["register"]
    known = all(right[key] == register[key] for key in ("version", "resource_name"))
    if not known or register["endpoint"] != got["socket"]:
        yield f"register: {register} for socket {got['socket']}, wanted {right}"


def _info(want: Answer, got: Answer) -> Iterator[str]:
    values = [
        value
        for response in _responses(got)
        for variable, value in response["envs"].items()
        if variable.endswith("_INFO")
    ]
    for text in want.get("info_must_name", ()):
        if not all(text in value for value in values):
            yield f"INFO does not name {text}"


def _device_info(want: Answer, got: Answer) -> Iterator[str]:
    have = got.get("devinfo", {})
    refused = {
        device
        for resource in want["resources"].values()
        for call in resource["calls"]
        if "error" in call["response"]
        for ids in call["request"]
        for device in ids
    }
    for file, content in want.get("devinfo", {}).items():
        if not any(i in file for i in refused) and not within(content, have.get(file)):
            yield f"device-info {file}: {have.get(file)}, wanted {content}"
    served = [
        f"{name.replace('/', '-')}-{device['id']}-device.json"
        for name, resource in got["resources"].items()
        for device in resource["devices"]
    ]
    for file in set(have).difference(served):
        yield f"device-info of a device that no pool has: {file}"


def _annotation_keys(got: Answer) -> Iterator[str]:
    keys = [
        {key for response in _responses({"resources": {"": r}}) for key in response["annotations"]}
        for r in got["resources"].values()
    ]
    if sum(map(len, keys)) != len(set().union(*keys)):
        yield f"annotation keys of pools coincide: {keys}"


def _responses(got: Answer) -> Iterator[dict[str, Any]]:
    """The container responses of all Allocate calls that succeeded."""
    for resource in got["resources"].values():
        for call in resource["calls"]:
            if isinstance(call["response"], list):
                yield from call["response"]

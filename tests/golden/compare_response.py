"""Compare one Allocate response with the right one."""

import json
from collections.abc import Iterator
from typing import Any


def same_response(want: Any, got: Any) -> Iterator[str]:
    if "error" in want:
        yield from _error(want["error"], got)
    elif "error" in got or len(want) != len(got):
        yield f"{got}, wanted {len(want)} container responses"
    else:
        for right, response in zip(want, got, strict=True):
            yield from _container(right, response)


def within(want: Any, got: Any) -> bool:
    """Whether *got* holds all that *want* has, and maybe more keys."""
    if isinstance(want, dict):
        return isinstance(got, dict) and all(within(v, got.get(k)) for k, v in want.items())
    return bool(want == got)


def _error(want: dict[str, Any], got: Any) -> Iterator[str]:
    if isinstance(got, list):
        yield "succeeded, wanted an error"
        return
    error = got["error"]
    missing = [text for text in want["names"] if text not in error["message"]]
    if want["code"] not in ("any", error["code"]):
        yield f"code {error['code']}, wanted {want['code']}"
    elif missing:
        yield f"the message does not name {missing}: {error['message']}"


def _container(want: dict[str, Any], got: dict[str, Any]) -> Iterator[str]:
    for name, value in want["envs"].items():
        have = got["envs"].get(name)
        if name.endswith("_INFO"):
            if have is None or not within(json.loads(value), json.loads(have)):
                yield f"{name}={have}, wanted {value}"
        elif have != (ids := ",".join(sorted(value.split(",")))):
            yield f"{name}={have}, wanted {ids}"
    for name in got["envs"]:
        original = next((n for n in want["envs"] if n.replace("-", "_") == name), name)
        if original not in want["envs"]:
            yield f"unknown variable {name}"
        elif got["envs"][name] != got["envs"].get(original):
            yield f"{name} is not the same as {original}"
    nodes, right = [tuple(n) for n in got["injected"]], {tuple(n) for n in want["injected"]}
    if len(nodes) != len(set(nodes)) or set(nodes) != right:
        yield f"device nodes {nodes}, wanted {want['injected']}"
    if want["mounts"] != got["mounts"]:
        yield f"mounts {got['mounts']}, wanted {want['mounts']}"

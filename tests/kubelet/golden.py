"""A golden case before a real kubelet: what each pod's container got, compared with the right answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.fakes.kubelet.reports import ContainerStart
from tests.golden.case import Answer, Case
from tests.golden.compare_response import same_response
from tests.golden.injected import injected
from tests.golden.node import Node
from tests.hosts.ground import temporary_directory


@contextmanager
def laid(case: Case) -> Iterator[Node]:
    """The node of the case."""
    with temporary_directory() as base:
        made = Node(base, case)
        made.lay()
        yield made


def flags(node: Node, way: str) -> list[str]:
    """The daemon's, with the kubelet's directory where the kubelet has it."""
    moved = ("--kubelet-host-dir", "--registration")
    return [f for f in node.command()[2:] if not f.startswith(moved)] + [f"--registration={way}"]


def wrong(pool: Answer, device: str, got: ContainerStart, cdi: Answer) -> list[str]:
    """How a container with one device differs from the case's answer for that device alone."""
    [want] = [call["response"] for call in pool["calls"] if call["request"] == [[device]]]
    response: dict[str, Any] = {
        "envs": got.env,
        "devices": [[d["host"], d["container"], d["permissions"]] for d in got.devices],
        "mounts": list(got.mounts),
        "annotations": got.annotations,
        "cdi_devices": list(got.cdi),
    }
    response["injected"] = injected(response, cdi)
    return list(same_response(want, [response]))

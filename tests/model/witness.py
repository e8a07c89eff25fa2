"""Looks at every call and message at the moment it reaches the kubelet."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import TypeVar

from adapters.kubelet.pb import deviceplugin_v1beta1_pb2 as pb
from tests.fakes.kubelet import Call, FakeKubelet, Received
from tests.fakes.kubelet.holdings import Holdings
from tests.model.expectation import Hold

T = TypeVar("T")


class _Watched(list[T]):
    """A list that tells of everything that is appended to it."""

    def __init__(self, seen: Callable[[T], None]) -> None:
        super().__init__()
        self._seen = seen

    def append(self, item: T, /) -> None:
        super().append(item)
        self._seen(item)


class Witness:
    """What it finds wrong is in `faults`; `checked` counts what it looked at."""

    def __init__(self, kubelet: FakeKubelet) -> None:
        self.faults: list[str] = []
        self.messages = 0
        self.handed_out: dict[Hold, float] = {}
        """When each device was last asked for."""
        self._kubelet = kubelet
        self._entries = Holdings()
        self._last: dict[Path, Received] = {}
        self._registered: set[Path] = set()
        kubelet._journal.calls = _Watched(self._call)
        kubelet._journal.messages = _Watched(self._message)

    def held(self) -> set[Hold]:
        """What active pods hold, as the kubelet has it or had it last."""
        if process := self._kubelet._process:
            self._entries = process.ledger.holdings
        active = self._kubelet._pods.active_uids()
        entries = [entry for entry in self._entries if entry.pod in active]
        return {(entry.resource, device) for entry in entries for device in entry.holding.devices}

    def _call(self, call: Call) -> None:
        if call.method == "ListAndWatch":
            self._last.pop(call.socket, None)  # a new stream begins with the whole list
        if call.method == "Register":
            self._register(call)
        if call.method == "Allocate" and isinstance(call.argument, pb.AllocateRequest):
            ids = [id_ for container in call.argument.container_requests for id_ in container.devices_ids]
            self.handed_out.update({(call.resource, id_): monotonic() for id_ in ids})

    def _register(self, call: Call) -> None:
        if call.socket in self._registered:
            self.faults.append(f"Register twice on {call.socket.name}")
        self._registered.add(call.socket)

    def _message(self, message: Received) -> None:
        self.messages += 1
        ids = [device.ID for device in message.devices]
        if ids != sorted(set(ids)):
            self.faults.append(f"{message.resource}: not sorted, or an id twice: {ids}")
        before = self._last.get(message.socket)
        if before is not None and before.devices == message.devices:
            self.faults.append(f"{message.resource}: the same list twice on one stream: {ids}")
        self._last[message.socket] = message
        for resource, device in self.held():
            if resource == message.resource and device not in ids:
                self.faults.append(f"{resource}: {device} is held by a pod and not in the list {ids}")
            if resource != message.resource and device in ids:
                self.faults.append(f"{message.resource}: {device} is in the list, and a pod holds it as {resource}")

"""A QMP client: the guest commands its own QEMU, to plug, unplug and cut links."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

PORT = Path("/dev/virtio-ports/qmp")


class Refused(RuntimeError):
    """QEMU's answer to a command was an error."""


class Qmp:
    """One session on the monitor; *events* holds what QEMU told unasked."""

    def __init__(self, port: Path = PORT) -> None:
        self._fd = os.open(port, os.O_RDWR)
        self._pending = b""
        self.events: list[dict[str, Any]] = []
        with suppress(Refused):  # an earlier session has greeted already
            self.execute("qmp_capabilities")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def execute(self, command: str, **arguments: object) -> Any:
        request = {"execute": command, "arguments": arguments}
        os.write(self._fd, json.dumps(request).encode() + b"\n")
        while True:
            message = self._receive()
            if "return" in message:
                return message["return"]
            if "error" in message:
                raise Refused(message["error"]["desc"])
            if "event" in message:
                self.events.append(message)

    def set_link(self, device: str, *, up: bool) -> None:
        self.execute("set_link", name=device, up=up)

    def unplug(self, device: str) -> None:
        """Ask the guest to let go of *device*; it takes its time."""
        self.execute("device_del", id=device)

    def plug(self, driver: str, device: str, **properties: object) -> None:
        self.execute("device_add", driver=driver, id=device, **properties)

    def _receive(self) -> dict[str, Any]:
        while b"\n" not in self._pending:
            self._pending += os.read(self._fd, 1 << 16)
        line, self._pending = self._pending.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        return message

"""What is read of devlink's answers, given as the kernel sends them (include/uapi/linux/devlink.h)."""

import os
import struct
from typing import Any

import pytest
from pyroute2.netlink import NLMSG_DONE
from pyroute2.netlink.devlink import DevlinkSocket, devlinkcmd

from adapters.netlink.devlink import _package_names, ddp_profiles
from adapters.netlink.question import Incomplete
from tests.unit.domain.facts import at

BUS_NAME, DEV_NAME, RUNNING, VERSION_NAME, VERSION_VALUE = 1, 2, 101, 103, 104
NESTED = 0x8000


def attribute(number: int, value: str | bytes) -> bytes:
    data = f"{value}\0".encode() if isinstance(value, str) else value
    padding = b"\0" * (-len(data) % 4)
    return struct.pack("HH", 4 + len(data), number) + data + padding


def encoded(bus: str, device: str, versions: dict[str, str]) -> bytes:
    """One message of a DEVLINK_CMD_INFO_GET dump."""
    nested = b"".join(
        attribute(RUNNING | NESTED, attribute(VERSION_NAME, name) + attribute(VERSION_VALUE, value))
        for name, value in versions.items()
    )
    body = struct.pack("BBxx", 51, 1) + attribute(BUS_NAME, bus) + attribute(DEV_NAME, device) + nested
    return struct.pack("IHHII", 16 + len(body), 20, 2, 1, 0) + body


def answer(bus: str, device: str, versions: dict[str, str]) -> object:
    message = devlinkcmd(encoded(bus, device, versions))
    message.decode()
    return message


def test_the_running_package_is_told_by_its_pf() -> None:
    """Case D17."""
    answers = [
        answer("pci", "0000:3b:00.0", {"fw.mgmt": "7.1", "fw.app.name": "ICE COMMS Package", "fw.app": "1.3.45"}),
        answer("pci", "10000:e1:00.0", {"fw.app.name": "ICE OS Default Package"}),
    ]

    assert dict(_package_names(answers)) == {
        at("0000:3b:00.0"): "ICE COMMS Package",
        at("10000:e1:00.0"): "ICE OS Default Package",
    }


def test_devices_of_other_buses_and_without_a_package_are_passed_over() -> None:
    answers = [
        answer("auxiliary", "mlx5_core.sf.4", {"fw.app.name": "x"}),
        answer("netdevsim", "netdevsim1", {"fw.app.name": "x"}),
        answer("pci", "no address", {"fw.app.name": "x"}),
        answer("pci", "0000:5e:00.0", {"fw.version": "22.36"}),
        answer("pci", "0000:5e:00.1", {}),
    ]

    assert dict(_package_names(answers)) == {}


@pytest.mark.parametrize("code", [0, 5, 16])
def test_an_error_at_the_end_of_a_dump_makes_it_incomplete(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel ends a dump by NLMSG_DONE, with the error of the driver that failed; its flags are not needed."""
    sent = encoded("pci", "0000:3b:00.0", {"fw.app.name": "ICE COMMS Package"}) + done(code)
    # This kernel may have no devlink: the socket is real, what it receives is not.
    monkeypatch.setattr(DevlinkSocket, "bind", lambda self: None)
    monkeypatch.setattr(DevlinkSocket, "prid", 20)
    monkeypatch.setattr(DevlinkSocket, "nlm_request", lambda self, *_, **__: received(self.marshal, sent))

    if code == 0:
        assert ddp_profiles() == {at("0000:3b:00.0"): "ICE COMMS Package"}
        return
    with pytest.raises(Incomplete, match=f"devlink broke off: {os.strerror(code)}") as caught:
        ddp_profiles()
    assert caught.value.told == {at("0000:3b:00.0"): "ICE COMMS Package"}


def received(marshal: Any, data: bytes) -> list[Any]:
    marshal.msg_map[20] = devlinkcmd
    return [m for m in marshal.parse(data, 1) if m["header"]["type"] != NLMSG_DONE]


def done(code: int) -> bytes:
    return struct.pack("IHHIIi", 20, NLMSG_DONE, 2, 1, 0, -code)

"""What is read of devlink's answers, given as the kernel sends them (include/uapi/linux/devlink.h)."""

import struct

from pyroute2.netlink.devlink import devlinkcmd

from adapters.netlink.devlink import _package_names
from tests.unit.domain.facts import at

BUS_NAME, DEV_NAME, RUNNING, VERSION_NAME, VERSION_VALUE = 1, 2, 101, 103, 104
NESTED = 0x8000


def attribute(number: int, value: str | bytes) -> bytes:
    data = f"{value}\0".encode() if isinstance(value, str) else value
    padding = b"\0" * (-len(data) % 4)
    return struct.pack("HH", 4 + len(data), number) + data + padding


def answer(bus: str, device: str, versions: dict[str, str]) -> object:
    """One message of a DEVLINK_CMD_INFO_GET dump."""
    nested = b"".join(
        attribute(RUNNING | NESTED, attribute(VERSION_NAME, name) + attribute(VERSION_VALUE, value))
        for name, value in versions.items()
    )
    body = struct.pack("BBxx", 51, 1) + attribute(BUS_NAME, bus) + attribute(DEV_NAME, device) + nested
    message = devlinkcmd(struct.pack("IHHII", 16 + len(body), 20, 2, 1, 0) + body)
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

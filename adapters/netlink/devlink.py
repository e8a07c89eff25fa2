"""What devlink tells of PFs (Documentation/networking/devlink/devlink-info.rst)."""

import os
import struct
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pyroute2.netlink import NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE
from pyroute2.netlink.devlink import DEVLINK_NAMES, AsyncDevlinkSocket, DevlinkSocket, MarshalDevlink, devlinkcmd

from adapters.netlink.question import Incomplete
from domain.errors import InvalidPciAddress
from domain.pci import PciAddress

_PACKAGE_NAME: Final = "fw.app.name"
"""The name of the Dynamic Device Personalization package that an ice PF runs (devlink/ice.rst)."""

_DONE: Final = struct.Struct("=16xi")
"""What ends a dump: a header (struct nlmsghdr), then 0 or a negative number of errno."""


def ddp_profiles() -> Mapping[PciAddress, str]:
    """The package name of every PF that has one: one question for all of them.

    Raises:
        Incomplete: if the driver of a PF failed: of it and those behind it nothing was told.
        OSError, pyroute2.netlink.exceptions.NetlinkError: if devlink cannot be asked here.
    """
    question = devlinkcmd()
    question["cmd"] = DEVLINK_NAMES["DEVLINK_CMD_INFO_GET"]
    with _Socket() as socket:
        socket.bind()
        answers = socket.nlm_request(question, msg_type=socket.prid, msg_flags=NLM_F_REQUEST | NLM_F_DUMP)
        told = dict(_package_names(answers))
        if code := socket.marshal.broke_off:
            raise Incomplete(f"devlink broke off: {os.strerror(code)}", told)
        return told


class _Marshal(MarshalDevlink):  # type: ignore[misc]
    """Keeps the error that the last message of a dump carries, which pyroute2 passes over."""

    broke_off = 0
    """A number of errno; 0 after a whole dump."""

    def parse_one_message(
        self, key: int, flags: int, sequence_number: int, data: bytes, offset: int, length: int
    ) -> Any:
        if key == NLMSG_DONE and length >= _DONE.size:
            self.broke_off = -_DONE.unpack_from(data, offset)[0]
        return super().parse_one_message(key, flags, sequence_number, data, offset, length)


class _AsyncSocket(AsyncDevlinkSocket):  # type: ignore[misc]
    marshal_class = _Marshal


class _Socket(DevlinkSocket):  # type: ignore[misc]
    async_class = _AsyncSocket


def _package_names(answers: Any) -> Iterator[tuple[PciAddress, str]]:
    for answer in answers:
        if answer.get_attr("DEVLINK_ATTR_BUS_NAME") != "pci":
            continue
        try:
            address = PciAddress.parse(answer.get_attr("DEVLINK_ATTR_DEV_NAME"))
        except InvalidPciAddress:
            continue
        for version in answer.get_attrs("DEVLINK_ATTR_INFO_VERSION_RUNNING"):
            if version.get_attr("DEVLINK_ATTR_INFO_VERSION_NAME") == _PACKAGE_NAME:
                yield address, version.get_attr("DEVLINK_ATTR_INFO_VERSION_VALUE")

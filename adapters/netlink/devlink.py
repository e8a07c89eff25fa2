"""What devlink tells of PFs (Documentation/networking/devlink/devlink-info.rst)."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pyroute2.netlink import NLM_F_DUMP, NLM_F_REQUEST
from pyroute2.netlink.devlink import DEVLINK_NAMES, DevlinkSocket, devlinkcmd

from domain.errors import InvalidPciAddress
from domain.pci import PciAddress

_PACKAGE_NAME: Final = "fw.app.name"
"""The name of the Dynamic Device Personalization package that an ice PF runs (devlink/ice.rst)."""


def ddp_profiles() -> Mapping[PciAddress, str]:
    """The package name of every PF that has one: one question for all of them.

    Raises:
        OSError, pyroute2.netlink.exceptions.NetlinkError: if devlink cannot be asked here.
    """
    question = devlinkcmd()
    question["cmd"] = DEVLINK_NAMES["DEVLINK_CMD_INFO_GET"]
    with DevlinkSocket() as socket:
        socket.bind()
        answers = socket.nlm_request(question, msg_type=socket.prid, msg_flags=NLM_F_REQUEST | NLM_F_DUMP)
        return dict(_package_names(answers))


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

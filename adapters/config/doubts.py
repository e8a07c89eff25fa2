"""Values that are accepted and can never match anything: the config looks right and the pool stays empty."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from adapters.config.schema import SelectorEntry, Text
from domain.errors import InvalidPciAddress
from domain.pci import PciAddress

_HEX_ID: Final = re.compile(r"[0-9a-f]{4}", re.IGNORECASE)
_RDMA_DRIVERS: Final = {"mlx5_ib": "mlx5_core", "mlx4_ib": "mlx4_core", "bnxt_re": "bnxt_en", "irdma": "ice or i40e"}
_LINK_TYPES: Final = ("ether", "infiniband")


def doubts(selector: SelectorEntry) -> Iterator[tuple[tuple[str | int, ...], str, str | None]]:
    """Path below the selector object, message and hint of each doubtful value."""
    for key in _TEXTS:
        for index, value in enumerate(getattr(selector, key)):
            if found := _DOUBTS.get(key, _none)(value) if value else _EMPTY:
                message, hint = found
                alias = SelectorEntry.model_fields[key].alias or key
                yield (alias, index), f"{value!r} {message}", hint
    if len(set(selector.link_types)) > 1:
        yield ("linkTypes",), "several link types in one pool", "Multus attaches them by position, not by type"


def is_address(text: str) -> bool:
    """Whether a text is a PCI address in any form."""
    try:
        PciAddress.parse(text)
    except InvalidPciAddress:
        return False
    return True


def _hex_id(value: str) -> tuple[str, str | None] | None:
    if _HEX_ID.fullmatch(value):
        return None
    bare = value.strip().lower().removeprefix("0x")
    if is_address(value.strip()):
        return "is a PCI address and matches no id", "addresses belong in pciAddresses"
    return "matches nothing: expected four hex digits", f"write {bare}" if _HEX_ID.fullmatch(bare) else None


def _driver(value: str) -> tuple[str, str | None] | None:
    if value.lower() in _RDMA_DRIVERS:
        return "is an RDMA driver; no PCI function is bound to it", f"the PCI driver is {_RDMA_DRIVERS[value.lower()]}"
    return None if value == value.strip() else ("has white space around it", f"write {value.strip()}")


def _address(value: str) -> tuple[str, str | None] | None:
    if is_address(value):
        return None
    return "matches nothing: expected a PCI address", "as 0000:3b:01.0"


def _root_device(value: str) -> tuple[str, str | None] | None:
    return _address(value.partition("#")[0])


def _aux_type(value: str) -> tuple[str, str | None] | None:
    return None if value.lower() == "sf" else ("is no kind of auxiliary device that is offered", "expected sf")


def _link_type(value: str) -> tuple[str, str | None] | None:
    if value.lower() in _LINK_TYPES:
        return None
    return "is no link type of a network device", f"expected {' or '.join(_LINK_TYPES)}"


def _none(_: str) -> None:
    """What is about a value may be anything."""


# In the order of the schema; a class that is empty is refused.
_TEXTS: Final = [
    key for key, info in SelectorEntry.model_fields.items() if info.annotation == list[Text] and key != "pci_classes"
]
_EMPTY: Final = ("is empty and matches nothing", "leave it out")

_DOUBTS: Final[Mapping[str, Callable[[str], tuple[str, str | None] | None]]] = {
    "vendors": _hex_id,
    "devices": _hex_id,
    "drivers": _driver,
    "pci_addresses": _address,
    "root_devices": _root_device,
    "link_types": _link_type,
    "aux_types": _aux_type,
}

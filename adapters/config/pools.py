"""From the file's entries to pools of the domain."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from adapters.config.document import Document, Path
from adapters.config.doubts import doubts, is_address
from adapters.config.schema import FileEntry, PoolEntry, SelectorEntry
from application.ports.pool_configuration import Problem
from domain.errors import InvalidIndexRanges, InvalidResourceName
from domain.index_ranges import IndexRanges
from domain.pci import PciAddress
from domain.pool import DeviceSelector, DeviceType, PoolSpec
from domain.resource_name import ResourceName
from domain.selectors import (
    AcpiIndexes,
    Devices,
    Drivers,
    LinkTypes,
    OneOf,
    PciAddresses,
    PfNames,
    RootDevices,
    Selector,
    Vendors,
)

# The Go plugin's own rule, narrower than the kubelet's: a dot would be ambiguous in environment variables.
_POOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")

_PLAIN: Final[dict[str, type[OneOf]]] = {
    "vendors": Vendors,
    "devices": Devices,
    "drivers": Drivers,
    "acpi_indexes": AcpiIndexes,
    "link_types": LinkTypes,
}
_LATER: Final = ("ddp_profiles", "aux_types", "p_keys", "is_rdma", "need_vhost_net", "vdpa_type")


class PoolBuilder:
    """Builds the pools of a file and collects everything that is wrong with them."""

    def __init__(self, document: Document, default_prefix: str, mistyped: Collection[Path] = ()) -> None:
        self._document = document
        self._prefix = default_prefix
        self._mistyped = frozenset(mistyped)
        self._names: dict[ResourceName, Path] = {}
        self.problems: list[Problem] = []

    def build(self, file: FileEntry) -> tuple[PoolSpec, ...]:
        """The pools in file order; those with a problem are missing."""
        if not file.resource_list:
            self._doubt(("resourceList",), "no pools: nothing will be served", None)
        pools = [self._pool(entry, ("resourceList", i)) for i, entry in enumerate(file.resource_list)]
        return tuple(pool for pool in pools if pool)

    def _pool(self, entry: PoolEntry, path: Path) -> PoolSpec | None:
        name = self._name(entry, path)
        device_type = self._device_type(entry, path)
        selectors = tuple(
            DeviceSelector(tuple(self._selectors(selector, (*path, "selectors", i))))
            for i, selector in enumerate(entry.selectors or ())
        )
        if entry.selectors is None:
            self._fault((*path, "selectors"), "is missing", "{} selects every network device")
        elif not selectors:
            self._doubt((*path, "selectors"), "an empty list selects nothing", "{} selects every network device")
        if name is None or device_type is None:
            return None
        return PoolSpec(name, selectors, device_type, entry.exclude_topology, entry.additional_info)

    def _name(self, entry: PoolEntry, path: Path) -> ResourceName | None:
        at = (*path, "resourceName")
        if not entry.resource_name:
            self._fault(at, "is missing or empty")
            return None
        if not _POOL_NAME.fullmatch(entry.resource_name):
            self._fault(at, f"{entry.resource_name!r} is no pool name", "letters, digits, - and _ are allowed")
            return None
        try:
            name = ResourceName(entry.resource_prefix or self._prefix, entry.resource_name)
        except InvalidResourceName as error:
            self._fault((*path, "resourcePrefix") if entry.resource_prefix else at, str(error))
            return None
        if name in self._names:
            first = self._document.problem(self._names[name], "")
            self._fault(at, f"{name} is a pool already, in line {first.line}", "one pool may have several selectors")
            return None
        self._names[name] = at
        return name

    def _device_type(self, entry: PoolEntry, path: Path) -> DeviceType | None:
        if not entry.device_type:
            return DeviceType.NET_DEVICE
        for known in DeviceType:
            if known.value.lower() == entry.device_type.lower():
                return known
        expected = " or ".join(known.value for known in DeviceType)
        self._fault((*path, "deviceType"), f"{entry.device_type!r} is no device type", f"expected {expected}")
        return None

    def _selectors(self, entry: SelectorEntry, path: Path) -> Iterator[Selector]:
        for below, message, hint in doubts(entry):
            self._doubt((*path, *below), message, hint)
        for key in _LATER:
            if getattr(entry, key):
                alias = SelectorEntry.model_fields[key].alias or key
                self._fault((*path, alias), f"{alias} is not supported by this version")
        for key, selector in _PLAIN.items():
            if values := getattr(entry, key):
                yield selector.of(values)
        if entry.pci_addresses:
            yield PciAddresses.of(_normal_address(text) for text in entry.pci_addresses)
        if entry.pf_names:
            yield PfNames.of(self._ranges(entry.pf_names, (*path, "pfNames"), str))
        if entry.root_devices:
            yield RootDevices.of(self._ranges(entry.root_devices, (*path, "rootDevices"), _normal_address))

    def _ranges(
        self, entries: Sequence[str], path: Path, normal: Callable[[str], str]
    ) -> Iterator[tuple[str, IndexRanges]]:
        for index, entry in enumerate(entries):
            try:
                name, ranges = IndexRanges.split(entry)
            except InvalidIndexRanges as error:
                self._fault((*path, index), str(error))
            else:
                yield normal(name), ranges

    def _fault(self, path: Path, message: str, hint: str | None = None) -> None:
        if not any(mistyped[: len(path)] == path for mistyped in self._mistyped):
            self.problems.append(self._document.problem(path, message, hint))

    def _doubt(self, path: Path, message: str, hint: str | None) -> None:
        self.problems.append(self._document.problem(path, message, hint, fatal=False))


def _normal_address(text: str) -> str:
    return str(PciAddress.parse(text)) if is_address(text) else text

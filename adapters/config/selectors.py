"""From the file's selector objects to selectors of the domain."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

from adapters.config.document import Path
from adapters.config.doubts import doubts, is_address
from adapters.config.schema import SelectorEntry
from domain.errors import InvalidIndexRanges
from domain.facility_selectors import DdpProfiles, HasVdpa, IsRdma, PKeys, VdpaType
from domain.index_ranges import IndexRanges
from domain.pci import PciAddress
from domain.pf_selectors import PATTERN_MARK, PfNames, RootDevices
from domain.pool import DeviceSelector, DeviceType
from domain.selector import Exclude, OneOf, Selector
from domain.selectors import (
    AcpiIndexes,
    AuxTypes,
    Devices,
    Drivers,
    LinkTypes,
    NumaNodes,
    PciAddresses,
    PciClasses,
    Vendors,
    VfOnly,
)

_PCI_CLASS: Final = re.compile(r"(?:0x)?(?:[0-9a-f]{2}){1,3}", re.IGNORECASE)

_PLAIN: Final[dict[str, type[OneOf]]] = {
    "vendors": Vendors,
    "devices": Devices,
    "drivers": Drivers,
    "acpi_indexes": AcpiIndexes,
    "link_types": LinkTypes,
    "numa_nodes": NumaNodes,
    "aux_types": AuxTypes,
    "p_keys": PKeys,
    "ddp_profiles": DdpProfiles,
}

_NOT_IN_EXCLUDE: Final = ("need_vhost_net", "allow_host_use", "exclude")
_NETWORK_KEYS: Final = ("ddp_profiles", "is_rdma", "need_vhost_net", "p_keys", "vdpa_type")
# Keys that cannot work with a type of devices, and why.
_NOT_WITH: Final[dict[DeviceType, tuple[tuple[str, ...], str]]] = {
    DeviceType.NET_DEVICE: (("aux_types",), "is for deviceType auxNetDevice"),
    DeviceType.ACCELERATOR: ((*_NETWORK_KEYS, "aux_types"), "is for network devices"),
    DeviceType.AUX_NET_DEVICE: (("ddp_profiles", "vf_only"), "is for deviceType netDevice"),
}


class Report(Protocol):
    """Takes what is wrong with the value at a path."""

    def fault(self, path: Path, message: str, hint: str | None = None) -> None: ...

    def doubt(self, path: Path, message: str, hint: str | None = None) -> None: ...


class SelectorBuilder:
    """Builds the selector objects of one pool."""

    def __init__(self, report: Report, device_type: DeviceType) -> None:
        self._report = report
        self._type = device_type

    def build(self, entry: SelectorEntry, path: Path) -> DeviceSelector:
        """One selector object; what is wrong with it is reported."""
        for below, message, hint in doubts(entry):
            self._report.doubt((*path, *below), message, hint)
        self._check_keys(entry, path)
        if self._without_interfaces(entry):
            entry = entry.model_copy(update={"link_types": []})
        vdpa = self._vdpa_type(entry, path)
        default = () if entry.pci_classes else (PciClasses.of([self._type.pci_class]),)
        return DeviceSelector(
            (*default, *self._conditions(entry, path, vdpa), *self._exclusions(entry, path)),
            allow_host_use=entry.allow_host_use,
            rdma=entry.is_rdma,
            vdpa=vdpa,
            vhost_net=entry.need_vhost_net,
        )

    def _conditions(self, entry: SelectorEntry, path: Path, vdpa: VdpaType | None) -> Iterator[Selector]:
        if entry.pci_classes:
            yield PciClasses.of(entry.pci_classes)
        for key, selector in _PLAIN.items():
            if values := getattr(entry, key):
                yield selector.of(value for value in values if value != "")
        if entry.pci_addresses:
            yield PciAddresses.of(_normal_address(text) for text in entry.pci_addresses if text)
        if entry.pf_names:
            yield PfNames.of(self._ranges(entry.pf_names, (*path, "pfNames"), str))
        if entry.root_devices:
            yield RootDevices.of(self._ranges(entry.root_devices, (*path, "rootDevices"), _normal_address))
        if entry.vf_only:
            yield VfOnly()
        if entry.is_rdma:
            yield IsRdma()
        if vdpa:
            yield HasVdpa(vdpa)

    def _exclusions(self, entry: SelectorEntry, path: Path) -> Iterator[Selector]:
        for index, excluded in enumerate(entry.exclude):
            at = (*path, "exclude", index)
            for below, message, hint in doubts(excluded):
                self._report.doubt((*at, *below), message, hint)
            self._check_keys(excluded, at)
            for key in _NOT_IN_EXCLUDE:
                if getattr(excluded, key):
                    alias = SelectorEntry.model_fields[key].alias or key
                    self._report.fault((*at, alias), f"{alias} says nothing about a device: it does not belong here")
            conditions = tuple(self._conditions(excluded, at, self._vdpa_type(excluded, at)))
            if conditions:
                yield Exclude(conditions)
            elif not excluded.vdpa_type:
                hint = 'name what is not wanted, as {"devices": ["1592"]}'
                self._report.fault(at, "excludes every device", hint)

    def _check_keys(self, entry: SelectorEntry, path: Path) -> None:
        keys, reason = _NOT_WITH[self._type]
        for key in keys:
            if getattr(entry, key):
                alias = SelectorEntry.model_fields[key].alias or key
                self._report.fault((*path, alias), f"{alias} {reason}, not {self._type.value}")
        if entry.pci_classes and self._type is not DeviceType.ACCELERATOR:
            self._report.fault(
                (*path, "pciClasses"), f"pciClasses is for deviceType accelerator, not {self._type.value}"
            )
        for index, text in enumerate(entry.pci_classes):
            if not _PCI_CLASS.fullmatch(text):
                self._report.fault((*path, "pciClasses", index), f"{text!r} is no PCI class", "as 12, 0b40 or 0x0b4000")
        if entry.is_rdma and entry.vdpa_type:
            self._report.fault((*path, "vdpaType"), "vdpaType and isRdma exclude each other", "write two selectors")

        if self._without_interfaces(entry):
            if entry.pf_names:
                hint = "rootDevices chooses by the PF's address; the Go plugin takes no notice of pfNames"
                self._report.doubt((*path, "pfNames"), "matches nothing: accelerators have no network interface", hint)
            if entry.link_types:
                excludes = "exclude" in path
                says = "matches nothing" if excludes else "says nothing"
                hint = "leave it out" if excludes else "the Go plugin takes no notice of it, and so it is here"
                self._report.doubt((*path, "linkTypes"), f"{says}: accelerators have no link", hint)

    def _without_interfaces(self, entry: SelectorEntry) -> bool:
        """Whether what is selected is of class 12 alone, which no network device is of."""
        return self._type is DeviceType.ACCELERATOR and not entry.pci_classes

    def _vdpa_type(self, entry: SelectorEntry, path: Path) -> VdpaType | None:
        if not entry.vdpa_type:
            return None
        found = next((known for known in VdpaType if known.value == entry.vdpa_type.lower()), None)
        if found is None:
            expected = " or ".join(known.value for known in VdpaType)
            self._report.fault((*path, "vdpaType"), f"{entry.vdpa_type!r} is no vDPA type", f"expected {expected}")
        return found

    def _ranges(
        self, entries: Sequence[str], path: Path, normal: Callable[[str], str]
    ) -> Iterator[tuple[str, IndexRanges]]:
        for index, entry in enumerate(entries):
            if not entry:
                continue  # doubted already
            try:
                name, ranges = IndexRanges.split(entry)
                if name.startswith(PATTERN_MARK):
                    re.compile(name.removeprefix(PATTERN_MARK), re.IGNORECASE)
            except InvalidIndexRanges as error:
                self._report.fault((*path, index), str(error))
            except (re.error, ValueError, OverflowError, RecursionError) as error:
                self._report.fault((*path, index), f"{entry!r} is no regular expression: {error}")
            else:
                yield normal(name), ranges


def _normal_address(text: str) -> str:
    return str(PciAddress.parse(text)) if is_address(text) else text

"""From the file's entries to pools of the domain."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from adapters.config.document import Document, Path
from adapters.config.schema import FileEntry, PoolEntry
from adapters.config.selectors import SelectorBuilder
from application.ports.pool_configuration import Problem
from domain.errors import InvalidResourceName
from domain.file_names import MOST_CHARACTERS, longest_file_name
from domain.health import Health, HealthPolicy
from domain.pool import DeviceType, PoolSpec
from domain.resource_name import ResourceName

# The Go plugin's own rule, narrower than the kubelet's: a dot would be ambiguous in environment variables.
_POOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")


class PoolBuilder:
    """Builds the pools of a file and collects everything that is wrong with them."""

    def __init__(self, document: Document, default_prefix: str, mistyped: Collection[Path] = ()) -> None:
        self._document = document
        self._prefix = default_prefix
        self._mistyped = frozenset(mistyped)
        self._names: dict[ResourceName, Path] = {}
        self._variables: dict[str, ResourceName] = {}
        self.problems: list[Problem] = []

    def build(self, file: FileEntry) -> tuple[PoolSpec, ...]:
        """The pools in file order; those with a problem are missing."""
        if not file.resource_list:
            self.doubt(("resourceList",), "no pools: nothing will be served")
        found = [self._pool(entry, ("resourceList", i)) for i, entry in enumerate(file.resource_list)]
        pools = [pool for pool in found if pool]
        owners = self._owners()
        return tuple(replace(pool, shell_alias=_alias_is_free(pool.name, owners)) for pool in pools)

    def fault(self, path: Path, message: str, hint: str | None = None) -> None:
        """Note something that cannot be served, unless a wrong type around it was noted already."""
        self._note(path, message, hint, fatal=True)

    def doubt(self, path: Path, message: str, hint: str | None = None) -> None:
        """Note something that is accepted and probably not meant, unless it comes from a wrong type."""
        self._note(path, message, hint, fatal=False)

    def _note(self, path: Path, message: str, hint: str | None, *, fatal: bool) -> None:
        if not any(mistyped[: len(path)] == path for mistyped in self._mistyped):
            self.problems.append(self._document.problem(path, message, hint, fatal=fatal))

    def _pool(self, entry: PoolEntry, path: Path) -> PoolSpec | None:
        name = self._name(entry, path)
        device_type = self._device_type(entry, path)
        builder = SelectorBuilder(self, device_type or DeviceType.NET_DEVICE)
        selectors = tuple(
            builder.build(selector, (*path, "selectors", i)) for i, selector in enumerate(entry.selectors or ())
        )
        if entry.selectors is None:
            self.fault((*path, "selectors"), "is missing", "{} selects every device of the type")
        elif not selectors:
            self.doubt((*path, "selectors"), "an empty list selects nothing", "{} selects every device of the type")
        if name is None or device_type is None:
            return None
        self._check_length(name, device_type, path)
        return PoolSpec(
            name,
            selectors,
            device_type,
            exclude_topology=entry.exclude_topology,
            health=self._health(entry, path),
            reset_on_allocate=entry.reset_on_allocate,
            restore_driver=self._restore_driver(entry, path, device_type),
            iommufd=entry.iommufd,
            additional_info=entry.additional_info,
        )

    def _health(self, entry: PoolEntry, path: Path) -> Health:
        default = Health()
        policy = next((known for known in HealthPolicy if known.value == entry.health.lower()), None)
        if entry.health and policy is None:
            expected = " or ".join(known.value for known in HealthPolicy)
            self.fault((*path, "health"), f"{entry.health!r} is no health policy", f"expected {expected}")
        return Health(
            policy or default.policy,
            default.hold_down if entry.hold_down is None else entry.hold_down,
            default.hold_up if entry.hold_up is None else entry.hold_up,
        )

    def _restore_driver(self, entry: PoolEntry, path: Path, device_type: DeviceType) -> bool:
        if entry.restore_driver and device_type is DeviceType.AUX_NET_DEVICE:
            self.fault((*path, "restoreDriver"), "restoreDriver is for functions, not for subfunctions", "leave it out")
        for index, selector in enumerate(entry.selectors or ()):
            if entry.restore_driver and len([driver for driver in selector.drivers if driver]) != 1:
                message = "restoreDriver needs exactly one driver in drivers"
                self.fault((*path, "selectors", index), message, "the driver that devices are bound back to")
        return entry.restore_driver

    def _name(self, entry: PoolEntry, path: Path) -> ResourceName | None:
        at = (*path, "resourceName")
        if not entry.resource_name:
            self.fault(at, "is missing or empty")
            return None
        if not _POOL_NAME.fullmatch(entry.resource_name):
            self.fault(at, f"{entry.resource_name!r} is no pool name", "letters, digits, - and _ are allowed")
            return None
        try:
            name = ResourceName(entry.resource_prefix or self._prefix, entry.resource_name)
        except InvalidResourceName as error:
            self.fault((*path, "resourcePrefix") if entry.resource_prefix else at, str(error))
            return None
        if name in self._names:
            first = self._document.problem(self._names[name], "")
            self.fault(at, f"{name} is a pool already, in line {first.line}", "one pool may have several selectors")
            return None
        self._names[name] = at
        self._claim_variables(name, at)
        return name

    def _check_length(self, name: ResourceName, device_type: DeviceType, path: Path) -> None:
        """One pool whose files cannot be written would keep the news of all others back."""
        longest = longest_file_name(name, device_type)
        if len(longest) > MOST_CHARACTERS:
            message = f"{name} is too long: a file of {len(longest)} characters, {longest}"
            self.fault((*path, "resourceName"), message, f"file systems take {MOST_CHARACTERS}")

    def _claim_variables(self, name: ResourceName, path: Path) -> None:
        """Two pools must not tell a container their devices in one variable."""
        for variable in (name.variable, f"{name.variable}_INFO"):
            owner = self._variables.setdefault(variable, name)
            if owner != name:
                hint = "containers could not tell them apart: rename one"
                self.fault(path, f"{name} would use the variable {variable}, as {owner} does", hint)
                return

    def _owners(self) -> Mapping[str, Collection[ResourceName]]:
        """The pools that tell a container something in a variable, for each variable."""
        owners: dict[str, set[ResourceName]] = {}
        for name in self._names:
            for variable in name.variables:
                for used in (variable, f"{variable}_INFO"):
                    owners.setdefault(used, set()).add(name)
        return owners

    def _device_type(self, entry: PoolEntry, path: Path) -> DeviceType | None:
        if not entry.device_type:
            return DeviceType.NET_DEVICE
        for known in DeviceType:
            if known.value.lower() == entry.device_type.lower():
                return known
        expected = " or ".join(known.value for known in DeviceType)
        self.fault((*path, "deviceType"), f"{entry.device_type!r} is no device type", f"expected {expected}")
        return None


def _alias_is_free(name: ResourceName, owners: Mapping[str, Collection[ResourceName]]) -> bool:
    """Whether a container with devices of any other pools too would find no other pool's in the alias."""
    alias = name.variables[-1]
    return all(owner == name for used in (alias, f"{alias}_INFO") for owner in owners[used])

"""The file's form: keys and the types of their values, as the Go plugin's ResourceConfList has them."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Entry(BaseModel):
    """An object of the file. Values have exactly the type written here; unknown keys are told elsewhere."""

    model_config = ConfigDict(strict=True, frozen=True, alias_generator=to_camel)
    inner: ClassVar[dict[str, type["Entry"]]] = {}
    """Keys whose values are lists of further objects."""


class SelectorEntry(Entry):
    """One selector object."""

    inner: ClassVar[dict[str, type[Entry]]] = {}

    vendors: list[str] = []
    devices: list[str] = []
    drivers: list[str] = []
    pci_addresses: list[str] = []
    acpi_indexes: list[str] = []
    pf_names: list[str] = []
    root_devices: list[str] = []
    link_types: list[str] = []
    ddp_profiles: list[str] = []
    aux_types: list[str] = []
    p_keys: list[str] = []
    is_rdma: bool = False
    need_vhost_net: bool = False
    vdpa_type: str = ""
    # Beyond the Go plugin.
    pci_classes: list[str] = []
    numa_nodes: list[int] = []
    vf_only: bool = False
    allow_host_use: bool = False
    exclude: "list[SelectorEntry]" = []


SelectorEntry.inner["exclude"] = SelectorEntry


class PoolEntry(Entry):
    """One pool."""

    inner: ClassVar[dict[str, type[Entry]]] = {"selectors": SelectorEntry}

    resource_name: str = ""
    resource_prefix: str = ""
    device_type: str = ""
    exclude_topology: bool = False
    iommufd: bool = False
    health: str = ""
    hold_down: float | None = Field(default=None, ge=0)
    hold_up: float | None = Field(default=None, ge=0)
    reset_on_allocate: bool = False
    restore_driver: bool = False
    selectors: list[SelectorEntry] | None = None
    additional_info: dict[str, dict[str, str]] = {}
    # Written by the SR-IOV operator as null, beside selectors.
    selector_obj: None = Field(default=None, alias="SelectorObj")
    selector_objs: None = Field(default=None, alias="SelectorObjs")


class FileEntry(Entry):
    """The whole file."""

    inner: ClassVar[dict[str, type[Entry]]] = {"resourceList": PoolEntry}

    resource_list: list[PoolEntry] = []
    health_check_interval: float | None = Field(default=None, gt=0)

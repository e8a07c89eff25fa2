"""The file's form: keys and the types of their values, as the Go plugin's ResourceConfList has them."""

from typing import Annotated, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""A text within a list. A null there is an empty text, as in Go: a list of nulls must not select everything."""


class Entry(BaseModel):
    """An object of the file. Values have exactly the type written here; unknown keys are told elsewhere."""

    model_config = ConfigDict(strict=True, frozen=True, alias_generator=to_camel)
    inner: ClassVar[dict[str, type["Entry"]]] = {}
    """Keys whose values are lists of further objects."""


class SelectorEntry(Entry):
    """One selector object."""

    inner: ClassVar[dict[str, type[Entry]]] = {}

    vendors: list[Text] = []
    devices: list[Text] = []
    drivers: list[Text] = []
    pci_addresses: list[Text] = []
    acpi_indexes: list[Text] = []
    pf_names: list[Text] = []
    root_devices: list[Text] = []
    link_types: list[Text] = []
    ddp_profiles: list[Text] = []
    aux_types: list[Text] = []
    p_keys: list[Text] = []
    is_rdma: bool = False
    need_vhost_net: bool = False
    vdpa_type: str = ""
    # Beyond the Go plugin.
    pci_classes: list[Text] = []
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

"""Where device information lies for the CNI side."""

from collections.abc import Collection, Sequence
from typing import Protocol

from domain.device_info import DeviceInfo


class DeviceInfoStore(Protocol):
    """Holds one record a device, by the record's file name. The methods block.

    All raise FilesUnwritable, with path and remedy, where the directory cannot be used.
    """

    def write(self, records: Sequence[DeviceInfo]) -> int:
        """Make these records readable and return how many differed; the others are left alone.

        A partial record is written only where there is none.
        """

    def names(self) -> Collection[str]:
        """The names of all records, other writers' too."""

    def ours(self, names: Collection[str]) -> Collection[str]:
        """Those of some records that this store, or one like it in an earlier process, has written."""

    def remove(self, names: Collection[str]) -> None:
        """Drop records; one that is not there is no error."""

"""Port DeviceInfoStore in memory."""

from collections.abc import Collection, Mapping, Sequence

from domain.device_info import DeviceInfo
from domain.errors import FilesUnwritable


class FakeDeviceInfoStore:
    """Records by file name; `full` makes it refuse what is new, as a full disk does."""

    def __init__(self) -> None:
        self.records: dict[str, Mapping[str, object]] = {}
        self.others: set[str] = set()
        """Names of records that somebody else has written."""
        self.full = False

    def write(self, records: Sequence[DeviceInfo]) -> int:
        new = {
            r.file_name: r.content
            for r in records
            if self.records.get(r.file_name) != r.content and not (r.partial and r.file_name in self.records)
        }
        if new and self.full:
            raise FilesUnwritable("devinfo", "No space left on device", "free space")
        self.records.update(new)
        return len(new)

    def names(self) -> Collection[str]:
        return list(self.records)

    def ours(self, names: Collection[str]) -> Collection[str]:
        return [name for name in names if name in self.records and name not in self.others]

    def remove(self, names: Collection[str]) -> None:
        for name in names:
            self.records.pop(name, None)

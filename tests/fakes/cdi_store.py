"""Port CdiStore in memory."""

from collections.abc import Collection, Sequence

from domain.cdi import CdiFile
from domain.errors import FilesUnwritable


class FakeCdiStore:
    """Files by name; `full` makes it refuse what is new, as a full disk does."""

    def __init__(self) -> None:
        self.files: dict[str, CdiFile] = {}
        self.full = False

    def read(self, prefixes: Collection[str]) -> Sequence[CdiFile]:
        return [
            file for file in self.files.values() if file.kind.partition("/")[0].removeprefix("sriovdp-") in prefixes
        ]

    def write(self, files: Sequence[CdiFile]) -> None:
        for file in files:
            if not file.devices:
                self.files.pop(file.name, None)
            elif self.files.get(file.name) != file:
                if self.full:
                    raise FilesUnwritable(f"cdi/{file.name}", "No space left on device", "free space")
                self.files[file.name] = file

"""Where everything of a simulated node is."""

from dataclasses import dataclass
from pathlib import Path

from tests.model.setup import Way


@dataclass(frozen=True, slots=True)
class Places:
    directory: Path
    way: Way

    @property
    def host(self) -> Path:
        return self.directory / "h"

    @property
    def config(self) -> Path:
        return self.directory / "c"

    @property
    def kubelet(self) -> Path:
        return self.directory / "k"

    @property
    def devinfo(self) -> Path:
        return self.directory / "i"

    @property
    def sockets(self) -> Path:
        """Where the sockets of pools are."""
        return self.kubelet / ("plugins_registry" if self.way == "watcher" else "device-plugins")

    def pool_sockets(self) -> list[Path]:
        """Sockets of pools that have a name yet."""
        found = sorted(self.sockets.iterdir()) if self.sockets.is_dir() else []
        return [s for s in found if s.is_socket() and s.name != "kubelet.sock" and not s.name.startswith(".")]

    def records(self) -> list[str]:
        """Names of device-info files that have their name yet."""
        found = sorted(self.devinfo.iterdir()) if self.devinfo.is_dir() else []
        return [f.name for f in found if not f.name.startswith(".")]

    def remove(self, *files: Path) -> None:
        """As somebody with a shell does."""
        for file in files:
            file.unlink(missing_ok=True)

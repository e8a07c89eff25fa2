"""The configuration as an operator, or the kubelet for a ConfigMap, writes it."""

import json
import shutil
from pathlib import Path
from typing import Final

from tests.model.pools import Pools

BREAKAGES: Final = ("cut short", "a name twice", "missing")


class ConfigFile:
    """The file, what is in it, and which pools were in it when it was last good."""

    def __init__(self, directory: Path, pools: Pools, *, config_map: bool) -> None:
        self._directory = directory
        self._config_map = config_map
        self._writes = 0
        self.pools = pools
        self.breakage = ""
        directory.mkdir()
        if config_map:
            self.path.symlink_to("..data/config.json")
        self.write(pools)

    @property
    def path(self) -> Path:
        return self._directory / "config.json"

    def write(self, pools: Pools) -> None:
        self.pools, self.breakage = pools, ""
        self._put(self._text(pools))

    def spoil(self, breakage: str) -> None:
        self.breakage = breakage
        if breakage == "missing":
            self._put(None)
        elif breakage == "a name twice":
            self._put(json.dumps({"resourceList": [{"resourceName": "x", "selectors": {}}] * 2}))
        else:
            self._put(self._text(self.pools)[:-2])

    def _text(self, pools: Pools) -> str:
        return json.dumps({"resourceList": [pool.entry() for pool in pools]})

    def _put(self, text: str | None) -> None:
        self._writes += 1
        if self._config_map:
            self._swap(text)
        elif text is None:
            self.path.unlink()
        elif self._writes % 2:
            self.path.write_text(text)  # as an editor that writes in place
        else:
            aside = self._directory / "new"
            aside.write_text(text)
            aside.replace(self.path)

    def _swap(self, text: str | None) -> None:
        """As the kubelet does: another directory, and ..data points there."""
        data, aside = self._directory / "..data", self._directory / "..data_tmp"
        before = data.resolve() if data.is_symlink() else None
        fresh = self._directory / f"..{self._writes}"
        fresh.mkdir()
        if text is not None:
            (fresh / "config.json").write_text(text)
        aside.symlink_to(fresh.name)
        aside.replace(data)
        if before is not None:
            shutil.rmtree(before)

"""Sections of guides that lead from a configuration to what a container sees."""

import re
from dataclasses import dataclass
from typing import Any, Final

import yaml

from tests.unit.documentation.commands import exchanges
from tests.unit.documentation.markdown import GUIDES, fenced, sections


@dataclass(frozen=True, slots=True)
class Walk:
    """A section that leads from a configuration to what a container sees."""

    document: str
    heading: str
    content: str

    @property
    def config(self) -> str:
        (config,) = fenced(self.content, "json")
        return config

    @property
    def dialogue(self) -> str:
        return "".join(fenced(self.content, "console"))

    @property
    def root(self) -> str:
        """The directory of its host."""
        (root,) = set(re.findall(r"--root=(\S+)", self.dialogue))
        return str(root)

    @property
    def variables(self) -> dict[str, list[str]]:
        """The devices that its pod has, by the variable that lists them."""
        said = (re.fullmatch(r"kubectl exec .*-- printenv (\w+)", command) for command, _ in exchanges(self.dialogue))
        return {
            found[1]: output.strip().split(",")
            for found, (_, output) in zip(said, exchanges(self.dialogue), strict=True)
            if found and not found[1].endswith("_INFO")
        }

    @property
    def manifests(self) -> list[dict[str, Any]]:
        printed = (output for command, output in exchanges(self.dialogue) if command.startswith("sriovdp nad"))
        return [each for part in (*printed, *fenced(self.content, "yaml")) for each in yaml.safe_load_all(part)]


WALKS: Final = [
    Walk(document, heading, content)
    for document in GUIDES
    for heading, content in sections(document).items()
    if fenced(content, "json")
]


CDI: Final = "docs/guides/cdi.md"

"""deploy/Dockerfile as its instructions."""

import json
import re
import shlex
from dataclasses import dataclass, field

from tests.unit.deploy.manifest import DEPLOY


@dataclass
class Stage:
    """The instructions from one FROM to the next, as name and rest of the line."""

    base: str
    instructions: list[tuple[str, str]] = field(default_factory=list)

    def all(self, name: str) -> list[str]:
        return [rest for instruction, rest in self.instructions if instruction == name]

    @property
    def variables(self) -> dict[str, str]:
        pairs = [word.partition("=") for rest in self.all("ENV") for word in shlex.split(rest)]
        return {name: value for name, _, value in pairs}

    @property
    def entry_point(self) -> list[str]:
        """Its words. Only the JSON form starts the program itself, with the container's arguments, and not a shell."""
        (rest,) = self.all("ENTRYPOINT")
        words: list[str] = json.loads(rest)
        return words

    @property
    def copied(self) -> list[str]:
        """What comes from the build context."""
        words = [shlex.split(rest) for rest in self.all("COPY")]
        return [source for line in words if not line[0].startswith("--from=") for source in line[:-1]]


def stages() -> list[Stage]:
    """All stages in their order."""
    lines = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    found: list[Stage] = []
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        name, _, rest = line.strip().partition(" ")
        if name == "FROM":
            found.append(Stage(rest))
        elif name and found:
            found[-1].instructions.append((name, rest.strip()))
    return found


def ignored() -> list[str]:
    """The patterns of the .dockerignore file."""
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]

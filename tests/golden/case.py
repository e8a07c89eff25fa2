"""Golden cases: a host, a configuration, and the right answer."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from tests.hosts.case import case_layout
from tests.hosts.layout import Layout

HERE: Final = Path(__file__).parent

#: What the plugin answers, as plain data, in the form the README of the recordings describes.
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded case.

    *config* is the text of the configuration file, None when there is none. Of the *right*
    answers the first is the one to report differences from.
    """

    name: str
    host: Layout
    config: str | None
    prefix: str
    use_cdi: bool
    mode: Literal["registry", "classic"]
    right: tuple[Answer, ...]

    @property
    def pools(self) -> dict[str, Any]:
        """The resources of the right answer."""
        resources: dict[str, Any] = self.right[0]["resources"]
        return resources


def load(name: str) -> Case:
    """Read ``cases/<name>.json``."""
    case = json.loads((HERE / "cases" / f"{name}.json").read_text())
    args = case["args"]
    right = case["answer"] if case["right"] else case["expected"]
    return Case(
        name,
        case_layout(case["host"]),
        _config(case),
        args["resource_prefix"],
        args["use_cdi"],
        args["mode"],
        (right, *case.get("also_right", ())),
    )


def names() -> list[str]:
    return sorted(path.stem for path in (HERE / "cases").glob("*.json"))


def _config(case: dict[str, Any]) -> str | None:
    if "config_text" in case:
        return str(case["config_text"])
    return json.dumps(case["config"], indent=2) if "config" in case else None

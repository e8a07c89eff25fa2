"""Configuration files of a document or a test, read as the daemon reads them."""

import json
from pathlib import Path
from typing import Any

from adapters.config.config_file import ConfigFile
from application.ports.pool_configuration import Configuration, ConfigurationInvalid, Problem
from tests.unit.documentation.markdown import rows


def load(directory: Path, config: str, *, strict: bool = False) -> Configuration:
    path = directory / "config.json"
    path.write_text(config, encoding="utf-8")
    return ConfigFile(path, "intel.com", strict=strict).load()


def problems(directory: Path, file: dict[str, Any]) -> tuple[Problem, ...]:
    try:
        return load(directory, json.dumps(file)).warnings
    except ConfigurationInvalid as invalid:
        return invalid.problems


def pool(**keys: Any) -> dict[str, Any]:
    """A file with one pool."""
    return {"resourceList": [{"resourceName": "p", "selectors": {}, **keys}]}


def bad_values() -> list[dict[str, str]]:
    return rows("docs/configuration.md", "Where")

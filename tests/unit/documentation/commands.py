"""Commands that a document prints, and where they are given."""

import re
import shlex
from pathlib import Path

import pytest

from entrypoints.cli import main
from tests.unit.documentation.markdown import blocks


def exchanges(dialogue: str) -> list[tuple[str, str]]:
    """Commands and what they print."""
    parts = re.split(r"^\$ (.*)\n", dialogue, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def answer(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    main(shlex.split(command)[1:])
    printed = capsys.readouterr()
    return printed.out + printed.err


def furnish(place: Path, hosts: Path, config: str) -> None:
    """Make a directory the one in which the commands of a document are given."""
    for host in hosts.iterdir():
        (place / host.name).symlink_to(host)
    (place / "config.json").write_text(config, encoding="utf-8")


def copying(host: str, copy: str) -> str:
    """The script that copies a host, from one directory to another."""
    (script,) = (block for block in blocks("docs/debugging.md", "sh") if block.startswith("from=/ "))
    return script.replace("from=/ to=$PWD/node", f"from=$PWD/{host} to=$PWD/{copy}")

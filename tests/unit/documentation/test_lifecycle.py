"""docs/lifecycle.md: its times, and how a log is read. What happens is played in tests/daemon/documentation."""

import ast
import json
import shutil
import subprocess

import pytest

from tests.unit.documentation.markdown import LIFECYCLE, blocks, codes, rows, text


def constant(path: str, name: str) -> float:
    """The number that a name is given in a file, also as the default of a setting."""
    for node in ast.walk(ast.parse(text(path))):
        if isinstance(node, ast.AnnAssign | ast.Assign) and node.value:
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                value = node.value
                if isinstance(value, ast.Call):
                    (value,) = (keyword.value for keyword in value.keywords if keyword.arg == "default")
                return float(ast.literal_eval(value))
    raise AssertionError(f"{path} has no {name}")


@pytest.mark.parametrize("row", rows(LIFECYCLE, "Time"), ids=lambda row: row["Time"])
def test_the_times_of_the_life_cycle_are_those_of_the_code(row: dict[str, str]) -> None:
    path, name = codes(row["Decided in"])

    assert float(row["Seconds"]) == constant(path, name)


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
def test_a_log_is_printed_as_the_life_cycle_shows_it() -> None:
    (command,) = blocks(LIFECYCLE, "sh")
    line = {"resource": "intel.com/kern", "devices": ["a", "b"], "event": "allocated", "level": "info"}
    log = json.dumps({**line, "timestamp": "2026-11-29T19:54:30.726869Z"}) + "\nno JSON\n"
    _, _, program = command.partition("|")

    done = subprocess.run(["bash", "-c", program], input=log, capture_output=True, text=True, check=True)

    assert done.stdout == '19:54:30.72  info  allocated  resource=intel.com/kern devices=["a","b"]\n'

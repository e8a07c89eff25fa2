"""docs/differences.md: each has a reason, a test and its recordings."""

import ast
import json
import re

import pytest

from tests.golden.case import HERE, names
from tests.unit.documentation.markdown import codes, rows, text


@pytest.mark.parametrize("row", rows("docs/differences.md", "Here"), ids=lambda row: row["Here"][:40])
def test_every_difference_has_a_reason_and_a_test(row: dict[str, str]) -> None:
    if row["Here"].startswith("**"):
        return
    path, _, name = codes(row["Test"])[0].partition("::")
    tree = ast.parse(text(path))

    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert row["Why"] not in {"", "-"}
    assert re.fullmatch(r"-|[A-I]\d\d( [A-I]\d\d)*", row["Case"])


def test_every_recording_in_which_the_go_plugin_is_wrong_is_told() -> None:
    wrong = {name for name in names() if not json.loads((HERE / "cases" / f"{name}.json").read_text())["right"]}
    told = {name for row in rows("docs/differences.md", "Here") for name in codes(row["Golden"])}

    assert told == wrong

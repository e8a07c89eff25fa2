"""docs/debugging.md: every event of the log."""

import ast
from collections import defaultdict

from tests.unit.documentation.markdown import REPOSITORY, codes, rows

CODE = ("domain", "application", "adapters", "entrypoints")
LEVELS = {"debug", "info", "warning", "error"}


def journal_methods(node: ast.AST) -> set[str]:
    """The levels at which an expression reaches for the journal."""
    return {
        inner.attr
        for inner in ast.walk(node)
        if isinstance(inner, ast.Attribute)
        and inner.attr in LEVELS
        and isinstance(inner.value, ast.Attribute | ast.Name)
        and ast.unparse(inner.value).endswith("journal")
    }


def events() -> dict[str, set[str]]:
    """Every event that the code tells, with its levels."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in (path for room in CODE for path in (REPOSITORY / room).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assigned = {
            target.id: journal_methods(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            by_name = assigned.get(call.func.id, set()) if isinstance(call.func, ast.Name) else set()
            if levels := by_name or (journal_methods(call.func) if isinstance(call.func, ast.Attribute) else set()):
                found[ast.literal_eval(call.args[0])] |= levels
    return found


def test_every_event_of_the_log_is_explained_with_its_level() -> None:
    told = {codes(row["Event"])[0]: set(row["Level"].split(", ")) for row in rows("docs/debugging.md", "Event")}

    assert told == events()

"""The documentation is true: its commands answer as printed, its files load, its tables are those of the code."""

import ast
import json
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from adapters.config.config_file import ConfigFile
from adapters.config.schema import PoolEntry, SelectorEntry
from adapters.kubelet.status import _STATUS
from application.ports.pool_configuration import Configuration, ConfigurationInvalid, Problem
from entrypoints.cli import main
from entrypoints.settings import Settings
from tests.golden.case import HERE, names
from tests.golden.later import LATER

REPOSITORY = Path(__file__).parents[2]
DOCUMENTS = sorted(str(p.relative_to(REPOSITORY)) for p in (*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md")))
CODE = ("domain", "application", "adapters", "entrypoints")
NOT_SUPPORTED = "is not supported by this version"
LEVELS = {"debug", "info", "warning", "error"}


# -- Markdown ---------------------------------------------------------------------------------------------------------
def text(document: str) -> str:
    return (REPOSITORY / document).read_text(encoding="utf-8")


def blocks(document: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text(document), re.MULTILINE | re.DOTALL)


def prose(document: str) -> str:
    return re.sub(r"^```.*?^```$", "", text(document), flags=re.MULTILINE | re.DOTALL)


def section(document: str, heading: str) -> str:
    return re.split(r"^## ", text(document).partition(f"\n## {heading}\n")[2], flags=re.MULTILINE)[0]


def rows(document: str, first: str) -> list[dict[str, str]]:
    """The rows of all tables whose first column is headed so, by the headings of their columns."""
    found = []
    header: list[str] = []
    for line in prose(document).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            header = []
        elif not header:
            header = cells
        elif header[0] == first and not set(line) <= set("|-"):
            found.append(dict(zip(header, cells, strict=True)))
    return found


def codes(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def anchors(document: str) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", prose(document), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


# -- Form -------------------------------------------------------------------------------------------------------------
def test_the_readme_fits_one_screen() -> None:
    assert len(text("README.md").splitlines()) <= 45


@pytest.mark.parametrize("document", DOCUMENTS)
def test_lines_are_wrapped(document: str) -> None:
    assert [line for line in prose(document).splitlines() if len(line) > 120 and not line.startswith("|")] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", prose(document)):
        path, _, anchor = link.partition("#")
        if link.startswith("https://"):
            continue
        target = (REPOSITORY / document).parent / path if path else REPOSITORY / document
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(str(target.resolve().relative_to(REPOSITORY))), link


@pytest.mark.parametrize("document", DOCUMENTS)
def test_targets_of_make_exist(document: str) -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", text("Makefile"), re.MULTILINE))

    assert set(re.findall(r"(?:`|^    )make ([a-z0-9-]+)", text(document), re.MULTILINE)) <= targets


# -- Configuration ----------------------------------------------------------------------------------------------------
def load(directory: Path, config: str, *, strict: bool = False) -> Configuration:
    path = directory / "config.json"
    path.write_text(config, encoding="utf-8")
    return ConfigFile(path, "intel.com", strict=strict).load()


def problems(directory: Path, pool: dict[str, Any]) -> tuple[Problem, ...]:
    pool = {"resourceName": "p", "selectors": {}, **pool}
    try:
        return load(directory, json.dumps({"resourceList": [pool]})).warnings
    except ConfigurationInvalid as invalid:
        return invalid.problems


def aliases(entry: type[PoolEntry | SelectorEntry]) -> set[str]:
    return {field.alias or name for name, field in entry.model_fields.items()}


def test_every_setting_is_told_with_flag_variable_and_default() -> None:
    table = rows("docs/configuration.md", "Flag")
    told = {tuple(codes(row["Flag"] + row["Variable"])): row["Default"].strip("`") for row in table}

    shown = {"None": "none", "False": "off", "True": "on"}
    assert told == {
        (f"--{name.replace('_', '-')}", f"SRIOVDP_{name.upper()}"): shown.get(str(field.default), str(field.default))
        for name, field in Settings.model_fields.items()
    }


def test_every_key_of_the_file_is_told_and_whether_it_is_here(tmp_path: Path) -> None:
    told = {key: row for row in rows("docs/configuration.md", "Key") for key in codes(row["Key"])}

    assert set(told) == aliases(PoolEntry) | aliases(SelectorEntry)
    for key, row in told.items():
        value = {key: json.loads(codes(row["Example"])[0])}
        found = problems(tmp_path, {"selectors": value} if key in aliases(SelectorEntry) else value)
        assert [p.message for p in found] == {"yes": [], "not yet": [f"{key} {NOT_SUPPORTED}"]}[row["Here"]]


@pytest.mark.parametrize("config", blocks("docs/configuration.md", "json") + blocks("docs/debugging.md", "json"))
def test_printed_configurations_are_served_without_a_warning(config: str, tmp_path: Path) -> None:
    assert load(tmp_path, config, strict=True).pools


@pytest.mark.parametrize("row", rows("docs/configuration.md", "Where"), ids=lambda row: row["Written"])
def test_a_bad_value_gets_the_answer_printed(row: dict[str, str], tmp_path: Path) -> None:
    written = json.loads(f"{{{codes(row['Written'])[0]}}}")

    (problem,) = problems(tmp_path, {"selectors": written} if row["Where"] == "selector" else written)

    assert row["Answer"] == f"`{problem.message}{f' ({problem.hint})' if problem.hint else ''}`"
    assert row["Gets"] == ("refused" if problem.fatal else "warning")


# -- Debugging --------------------------------------------------------------------------------------------------------
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


def test_every_status_of_allocate_is_explained() -> None:
    told = {codes(row["Status"])[0] for row in rows("docs/debugging.md", "Status")}

    assert told == {"".join(map(str.title, code.name.split("_"))) for code in _STATUS.values()} | {"Internal"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the examples: the simulated host, its copy, and the configuration."""
    (program,) = blocks("docs/debugging.md", "python")
    (config,) = blocks("docs/debugging.md", "json")
    (copy,) = (block for block in blocks("docs/debugging.md", "sh") if block.startswith("from=/ "))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    Path("config.json").write_text(config, encoding="utf-8")
    Path("host.py").write_text(program, encoding="utf-8")
    Path("copy.sh").write_text(copy.replace("from=/ ", f"from={tmp_path}/host "), encoding="utf-8")
    subprocess.run([sys.executable, "host.py"], check=True)
    subprocess.run(["bash", "copy.sh"], check=True)
    return tmp_path


def answer(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    main(shlex.split(command)[1:])
    printed = capsys.readouterr()
    return printed.out + printed.err


@pytest.mark.parametrize("document", ["README.md", "docs/debugging.md"])
def test_commands_answer_as_printed(document: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dialogue = "".join(blocks(document, "console"))
    commands = re.findall(r"^\$ (sriovdp .*)$", dialogue, re.MULTILINE)

    assert dialogue == "".join(f"$ {command}\n{answer(command, capsys)}" for command in commands)


def test_a_copy_of_a_host_is_as_good_as_the_host(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    explain = "sriovdp explain --config-file=config.json"

    assert answer(f"{explain} --root=node", capsys) == answer(f"{explain} --root=host", capsys)


# -- Differences ------------------------------------------------------------------------------------------------------
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
    waiting = set(codes(section("docs/differences.md", "Not yet"))) & set(names())

    assert told == wrong - LATER.keys()
    assert waiting == wrong & LATER.keys()

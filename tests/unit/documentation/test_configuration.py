"""docs/configuration.md: flags, keys, and what a bad value gets."""

import json
from pathlib import Path

import pytest

from adapters.config.schema import FileEntry, PoolEntry, SelectorEntry
from domain.cdi import cdi_file
from domain.exposure import FACILITIES
from domain.host import Host
from domain.pool import DeviceType, PoolSpec
from domain.resource_name import ResourceName
from entrypoints.settings import Settings
from tests.unit.documentation.configurations import bad_values, load, pool, problems
from tests.unit.documentation.markdown import blocks, codes, rows
from tests.unit.documentation.walk import CDI

TYPES = [kind.value for kind in DeviceType]


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


@pytest.mark.parametrize("entry", [PoolEntry, SelectorEntry])
def test_every_key_of_the_file_is_told_with_an_example_and_where_it_may_stand(
    entry: type[PoolEntry | SelectorEntry], tmp_path: Path
) -> None:
    first = "Key of a pool" if entry is PoolEntry else "Key of a selector"
    told = {key: row for row in rows("docs/configuration.md", first) for key in codes(row[first])}

    assert set(told) == aliases(entry)
    for key, row in told.items():
        example, *others = codes(row["Example"])
        value = {key: json.loads(example)}
        keys = {**value, **json.loads(f"{{{', '.join(others)}}}")} if entry is PoolEntry else {"selectors": value}
        accepted = {kind for kind in TYPES if not problems(tmp_path, pool(**{"deviceType": kind, **keys}))}
        assert accepted == set(TYPES if row["For"] == "all" else codes(row["For"])), key


def test_every_key_around_the_pools_is_told_with_an_example(tmp_path: Path) -> None:
    told = {codes(row["Key of the file"])[0]: row for row in rows("docs/configuration.md", "Key of the file")}

    assert set(told) == {field.alias for field in FileEntry.model_fields.values()}
    for key, row in told.items():
        file = {**pool(), key: json.loads(codes(row["Example"])[0])}
        assert not any(problem.fatal for problem in problems(tmp_path, file)), key


@pytest.mark.parametrize("config", blocks("docs/configuration.md", "json") + blocks("docs/debugging.md", "json"))
def test_printed_configurations_are_served_without_a_warning(config: str, tmp_path: Path) -> None:
    assert load(tmp_path, config, strict=True).pools


@pytest.mark.parametrize("row", bad_values(), ids=lambda row: f"{row['Where']}: {row['Written']}")
def test_a_bad_value_gets_the_answer_printed(row: dict[str, str], tmp_path: Path) -> None:
    written = json.loads(f"{{{codes(row['Written'])[0]}}}")
    match row["Where"]:
        case "file":
            file = written
        case "pool":
            file = pool(**written)
        case "selector":
            file = pool(selectors=written)
        case kind:
            file = pool(deviceType=kind, selectors=written)

    (problem,) = set(problems(tmp_path, file))

    assert row["Answer"] == f"`{problem.message}{f' ({problem.hint})' if problem.hint else ''}`"
    assert row["Gets"] == ("refused" if problem.fatal else "warning")


def test_every_provider_of_info_is_told() -> None:
    told = {codes(row["Provider"])[0] for row in rows("docs/configuration.md", "Provider")}

    exposed = {"VhostNet": "vhost"}
    assert told == {exposed.get(name, name.lower()) for name in (type(f).__name__ for f in FACILITIES)}


def test_every_kind_and_file_of_cdi_is_told() -> None:
    told = {codes(row["Device type"])[0]: codes(row["Kind"] + row["File"]) for row in rows(CDI, "Device type")}

    specs = [PoolSpec(ResourceName("prefix", "NAME"), (), kind) for kind in DeviceType]
    files = [(spec.device_type.value, cdi_file(spec, (), Host())) for spec in specs]
    assert told == {kind: [f.replace("prefix", "PREFIX") for f in (file.kind, file.name)] for kind, file in files}

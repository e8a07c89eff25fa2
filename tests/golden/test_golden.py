"""The real daemon answers every golden case right."""

import asyncio
import re
from typing import Any

import pytest

from tests.golden.answer import answer
from tests.golden.case import Answer, load, names
from tests.golden.compare import differences


@pytest.mark.parametrize("name", names())
def test_the_daemon_answers_a_golden_case_right(name: str) -> None:
    case = load(name)

    got = asyncio.run(answer(case))

    assert differences(case, got) == [], got["log"]
    if case.use_cdi:
        assert nodes_in_responses(got) == [], "under CDI nodes come by name"


def nodes_in_responses(got: Answer) -> list[Any]:
    calls = [call["response"] for resource in got["resources"].values() for call in resource["calls"]]
    return [node for call in calls if isinstance(call, list) for response in call for node in response["devices"]]


REFUSED = [name for name in names() if load(name).right[0]["start"] == "exit"]


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_configuration_is_a_report_and_exit_code_2(name: str) -> None:
    got = asyncio.run(answer(load(name)))

    assert got["exit"] == 2
    assert "config.json" in got["log"]
    assert "Traceback" not in got["log"]


def test_a_trailing_comma_is_reported_by_line_and_column() -> None:
    got = asyncio.run(answer(load("config_trailing_comma")))

    assert re.search(r"config\.json:[23]:\d+", got["log"]) or re.search(r"line [23],? column \d+", got["log"])

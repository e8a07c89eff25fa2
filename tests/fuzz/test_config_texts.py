"""Whatever is in the configuration file: pools, or problems with their places, and nothing else.

``SRIOVDP_FUZZ=10000`` runs that many mutations, other ones each time; without it there are few, and always the same.
"""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.config.config_file import ConfigFile
from application.ports.pool_configuration import ConfigurationInvalid
from tests.fuzz.examples import EXAMPLES

pytestmark = pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")

GOOD = """{"healthCheckInterval": 30,
 "resourceList": [
  {"resourceName": "kern", "resourcePrefix": "a.com", "restoreDriver": true, "health": "link", "holdDown": 0.5,
   "selectors": {"vendors": ["8086"], "drivers": ["iavf"], "pfNames": ["ens1f0#0-3", "re:ens[23]f0"]},
   "additionalInfo": {"*": {"token": "x"}, "0000:3b:01.0": {"a": "b"}}},
  {"resourceName": "acc", "deviceType": "accelerator", "selectors": [{"pciClasses": ["12"]}, {"numaNodes": [0]}]},
  {"resourceName": "sf", "deviceType": "auxNetDevice", "SelectorObj": null,
   "selectors": [{"auxTypes": ["sf"], "isRdma": true, "exclude": [{"rootDevices": ["3b:00.0#1"]}]}]}
 ]
}
"""
TOKENS = re.findall(r'"[^"]*"|[\d.]+|\w+|\s+|.', GOOD)
INSTEAD = (
    "", "5", "-1", "1e999", "9" * 5000, "null", "true", '""', '"re:(?a)(?u)x"', '"re:[[a]"', f'"e#{"1" * 5000}"',
    '"\\ud800"', "{}", "[]", "[5]", "[null]", "[{}]", '{"a": 5}', '{"\\ud800": {"\\ud800": 5}}', '"exclude"', "[" * 300,
    ",", "]", "}", "\n", "\r", "\u2028", "\x0c", "\x00", "\ufeff", "NaN", "//", "'",
)  # fmt: skip


def read(directory: Path, text: str) -> None:
    """Load it; each problem must have a text, and its place must be one of the file."""
    path = directory / "config.json"
    path.write_bytes(text.encode())
    try:
        problems = ConfigFile(path, "intel.com").load().warnings
    except ConfigurationInvalid as invalid:
        problems = invalid.problems
        assert any(problem.fatal for problem in problems)
    lines = text.split("\n")
    for problem in problems:
        assert problem.message
        assert problem.line == 0 or 1 <= problem.column <= len(lines[problem.line - 1]) + 1


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("texts")


def test_a_file_cut_at_any_byte_is_refused_or_read(directory: Path) -> None:
    """Case B07: files are also written line by line."""
    for end in range(len(GOOD)):
        read(directory, GOOD[:end])


def test_any_one_token_replaced_by_anything_is_refused_or_read(directory: Path) -> None:
    for place in range(len(TOKENS)):
        for token in INSTEAD:
            read(directory, "".join((*TOKENS[:place], token, *TOKENS[place + 1 :])))


@EXAMPLES
@given(changes=st.lists(st.tuples(st.integers(0, len(TOKENS) - 1), st.sampled_from((*INSTEAD, *TOKENS))), max_size=6))
def test_several_tokens_replaced_by_anything_are_refused_or_read(
    changes: list[tuple[int, str]], directory: Path
) -> None:
    tokens = list(TOKENS)
    for place, token in changes:
        tokens[place] = token
    read(directory, "".join(tokens))

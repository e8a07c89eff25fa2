"""What make lint says of licences."""

from email.message import Message
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from tests.licences import licence, main, permissive, pinned


def distribution_saying(directory: Path, *lines: str) -> PathDistribution:
    message = Message()
    message["Name"] = "thing"
    for line in lines:
        key, _, value = line.partition(": ")
        message[key] = value
    (directory / "METADATA").write_text(str(message), encoding="utf-8")
    return PathDistribution(directory)


def test_the_pinned_dependencies_are_in_order() -> None:
    assert main() == 0


@pytest.mark.parametrize("said", ["MIT", "GPL-2.0-or-later OR Apache-2.0", "MIT AND ISC", "BSD License", "mit license"])
def test_a_licence_that_allows_everything_is_enough(said: str) -> None:
    assert permissive(said)


@pytest.mark.parametrize("said", ["GPL-3.0-only", "MIT AND GPL-2.0-only", "not told", "", "Proprietary"])
def test_one_that_does_not_or_that_nobody_knows_is_not(said: str) -> None:
    assert not permissive(said)


def test_an_expression_is_believed_before_classifiers_and_those_before_free_text(tmp_path: Path) -> None:
    classifier = "Classifier: License :: OSI Approved :: MIT License"
    assert licence(distribution_saying(tmp_path, "License-Expression: ISC", classifier, "License: GPL")) == "ISC"
    assert licence(distribution_saying(tmp_path, classifier, "License: GPL")) == "MIT License"
    assert licence(distribution_saying(tmp_path, "License: GPL")) == "GPL"
    assert licence(distribution_saying(tmp_path)) == "not told"


def test_every_pin_is_found_with_its_marker() -> None:
    text = "a-b==1.2 \\\n    --hash=sha256:00\nc==3 ; sys_platform == 'win32' \\\n    --hash=sha256:01\n"
    assert pinned(text) == {"a-b": "", "c": "sys_platform == 'win32'"}

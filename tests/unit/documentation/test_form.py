"""Every document: its lines, its links, its targets of make."""

import re

import pytest

from tests.unit.documentation.markdown import DOCUMENTS, GUIDES, REPOSITORY, anchors, codes, prose, rows, text


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


def test_every_guide_is_in_the_readme() -> None:
    assert set(re.findall(r"\((docs/guides/[^)]+)\)", text("README.md"))) == set(GUIDES)


def test_every_adapter_is_on_the_map() -> None:
    folders = {path.parent.name for path in (REPOSITORY / "adapters").glob("*/__init__.py")}
    (row,) = (row for row in rows("docs/architecture.md", "Room") if "adapters" in row["Room"])

    assert folders <= set(codes(row["What is in it"]))

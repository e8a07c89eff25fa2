"""The documents, taken apart."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
DOCUMENTS = sorted(
    str(p.relative_to(REPOSITORY)) for pattern in ("*.md", "docs/**/*.md") for p in REPOSITORY.glob(pattern)
)
LIFECYCLE = "docs/lifecycle.md"
GUIDES = [document for document in DOCUMENTS if document.startswith("docs/guides/")]


def text(document: str) -> str:
    return (REPOSITORY / document).read_text(encoding="utf-8")


def fenced(content: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", content, re.MULTILINE | re.DOTALL)


def blocks(document: str, language: str) -> list[str]:
    return fenced(text(document), language)


def prose(document: str) -> str:
    return re.sub(r"^```.*?^```$", "", text(document), flags=re.MULTILINE | re.DOTALL)


def sections(document: str) -> dict[str, str]:
    """The text below each heading of the second level."""
    parts = re.split(r"^## (.*)\n", text(document), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


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

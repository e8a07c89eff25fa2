"""python -m tests.licences: whether what the product ships with is under licences that let it (make lint).

Asked are the distributions pinned in requirements/runtime.txt, as they are installed. Exit code 1 names those whose
licence is not known to be permissive.
"""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

_PINNED: Final = Path(__file__).parents[1] / "requirements" / "runtime.txt"
_PIN: Final = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)(?: ; (.+?))? *\\?$", re.MULTILINE)
#: SPDX identifiers, and the words that metadata of before PEP 639 has for the same.
_PERMISSIVE: Final = {
    "0BSD": (),
    "Apache-2.0": ("Apache License 2.0", "Apache Software License", "Apache 2.0"),
    "BSD-2-Clause": (),
    "BSD-3-Clause": ("3-Clause BSD License", "BSD License"),
    "ISC": ("ISC License (ISCL)",),
    "MIT": ("MIT License", "The MIT License"),
    "PSF-2.0": ("Python Software Foundation License",),
    "Unlicense": (),
}
#: Not permissive, and why they may be used all the same.
_EXCUSED: Final = {
    "pyudev": "LGPL-2.1-or-later: imported as it is published, and replaceable by whoever gets the image",
}


def pinned(text: str) -> dict[str, str]:
    """Name and marker of each distribution that a file of requirements pins; without a marker it is for all."""
    return {name: marker for name, _, marker in _PIN.findall(text)}


def permissive(licence: str) -> bool:
    """Whether an expression allows use under permissive terms alone: one side of an OR, both sides of an AND."""
    known = {word.lower() for name, words in _PERMISSIVE.items() for word in (name, *words)}
    if licence.strip("() ").lower() in known:
        return True
    choices = re.split(r"\s+or\s+", licence.strip("() "), flags=re.IGNORECASE)
    return any(
        all(part.strip("() ").lower() in known for part in re.split(r"\s+and\s+", choice, flags=re.IGNORECASE))
        for choice in choices
    )


def licence(found: Distribution) -> str:
    """What a distribution says of itself: the SPDX expression, else its classifiers, else its free text."""
    metadata = found.metadata
    if "License-Expression" in metadata:
        return metadata["License-Expression"]
    classifiers = [c.rpartition(" :: ")[2] for c in metadata.get_all("Classifier") or [] if c.startswith("License ::")]
    if named := [name for name in classifiers if name != "OSI Approved"]:
        return " AND ".join(named)
    texts = metadata.get_all("License") or [""]
    return next(iter(texts[0].splitlines()), "not told")


def complaints(text: str) -> Iterator[str]:
    for name, marker in pinned(text).items():
        try:
            said = licence(distribution(name))
        except PackageNotFoundError:
            if not marker:
                yield f"{name} is pinned and not installed: make venv"
            continue
        if not permissive(said) and name not in _EXCUSED:
            yield f"{name}: {said}: not known to be permissive; if it may be used, say why in {Path(__file__).name}"


def main() -> int:
    text = _PINNED.read_text(encoding="utf-8")
    found = list(complaints(text))
    print(*found or [f"licences of {len(pinned(text))} runtime dependencies: in order"], sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Uevent files: one read tells driver, class, ids and slot of a function."""

from collections.abc import Mapping


def parse_uevent(text: str) -> Mapping[str, str]:
    """The variables of a uevent file, KEY=value a line."""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)

"""Hosts of golden cases, as recorded."""

from collections.abc import Mapping
from typing import Any

from tests.hosts.layout import Layout


def case_layout(host: Mapping[str, Any]) -> Layout:
    """The tree of a case's ``host`` (or ``host_after``).

    What is ``unreadable`` there, attributes whose read fails with an errno, is left out, as the
    recording does: a tree cannot hold it, and to a reader both mean that there is no value.
    """
    return Layout(host["files"], host["links"], tuple(host["dirs"]))

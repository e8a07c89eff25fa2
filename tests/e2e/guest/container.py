"""Compares what a container would get with what the kernel has."""

import json
from collections.abc import Collection
from pathlib import Path

from tests.e2e.guest import cdi, facilities, opening
from tests.fakes.kubelet import ContainerStart


def check(
    started: ContainerStart, resource: str, uses: Collection[str] = (), cdi_directory: Path | None = None
) -> list[str]:
    """Assert that variables and nodes are right for the ids given, and that the nodes open; return the ids.

    With a directory of CDI files the nodes have to come from there alone.
    """
    assert not started.error
    variable = "PCIDEVICE_" + resource.replace(".", "_").replace("/", "_").upper()
    assert set(started.env) == {variable, f"{variable}_INFO"}
    ids = started.env[variable].split(",")
    assert ids == sorted(ids)
    assert json.loads(started.env[f"{variable}_INFO"]) == {
        name: {facility.provider: facility.info for facility in facilities.of(name, uses)} for name in ids
    }

    nodes = {name: facilities.nodes(name, uses) for name in ids}
    given = [(node["host"], node["container"], node["permissions"]) for node in started.devices]
    if cdi_directory is None:
        assert not started.cdi
    else:
        assert not given
        given = cdi.nodes(cdi_directory, started.cdi)
    assert sorted(given) == sorted((*node, "rw") for node in set().union(*nodes.values()))
    assert not started.mounts
    assert not started.annotations
    for name in ids:
        opening.check(nodes[name], name)
    return ids

"""docs/guides: what is printed there is what the daemon says."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.documentation.commands import answer, copying, exchanges, furnish
from tests.unit.documentation.configurations import bad_values, load
from tests.unit.documentation.damage import messages
from tests.unit.documentation.markdown import GUIDES, codes, rows
from tests.unit.documentation.node import Node
from tests.unit.documentation.pod import Pod
from tests.unit.documentation.walk import CDI, WALKS, Walk


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: f"{walk.document}: {walk.heading}")
def test_a_guide_shows_what_the_daemon_answers(
    walk: Walk,
    hosts: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    furnish(tmp_path, hosts(walk.document), walk.config)
    monkeypatch.chdir(tmp_path)
    assert load(tmp_path, walk.config, strict=True).pools
    node = Node.of(tmp_path, walk.root, use_cdi=walk.document == CDI)
    node.reconcile()
    pod = Pod(node, walk.variables)

    for command, printed in exchanges(walk.dialogue):
        assert printed == (answer(command, capsys) if command.startswith("sriovdp") else pod.says(command)), command


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: f"{walk.document}: {walk.heading}")
def test_the_manifests_of_a_guide_fit_its_pools(walk: Walk, tmp_path: Path) -> None:
    pools = {str(spec.name): spec.name for spec in load(tmp_path, walk.config).pools}
    networks: dict[str, str] = {}
    for manifest in walk.manifests:
        if manifest["kind"] == "NetworkAttachmentDefinition":
            config = json.loads(manifest["spec"]["config"])
            assert config["name"] == manifest["metadata"]["name"]
            networks[config["name"]] = manifest["metadata"]["annotations"]["k8s.v1.cni.cncf.io/resourceName"]
    (workload,) = (m for m in walk.manifests if m["kind"] in {"Pod", "VirtualMachine"})
    if workload["kind"] == "Pod":
        attached = workload["metadata"].get("annotations", {}).get("k8s.v1.cni.cncf.io/networks", "").split(",")
        (container,) = workload["spec"]["containers"]
        asked = {n: int(count) for n, count in container["resources"]["limits"].items() if n in pools}
        assert set(re.findall(r"kubectl exec (\S+)", walk.dialogue)) == {workload["metadata"]["name"]}
        assert asked == {n: len(walk.variables[name.variables[-1]]) for n, name in pools.items()}
    else:
        given = workload["spec"]["template"]["spec"]["networks"]
        attached = [network["multus"]["networkName"] for network in given if "multus" in network]

    assert {networks[network] for network in attached if network} <= set(pools)
    assert len([network for network in attached if network]) == sum(map(len, walk.variables.values())) or not networks


@pytest.mark.parametrize("document", [guide for guide in GUIDES if rows(guide, "Message")])
def test_the_messages_of_a_guide_are_real(document: str, hosts: Callable[[str], Path], tmp_path: Path) -> None:
    said = {codes(row["Answer"])[0] for row in bad_values()}
    for number, walk in enumerate(walk for walk in WALKS if walk.document == document):
        place = tmp_path / str(number)
        place.mkdir()
        (place / "config.json").write_text(walk.config, encoding="utf-8")
        said.update(messages(document, walk.root, hosts(document), place))

    assert {codes(row["Message"])[0] for row in rows(document, "Message")} <= said


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: f"{walk.document}: {walk.heading}")
def test_a_copy_of_a_host_is_as_good_as_the_host(walk: Walk, hosts: Callable[[str], Path], tmp_path: Path) -> None:
    furnish(tmp_path, hosts(walk.document), walk.config)
    subprocess.run(["bash", "-c", copying(f"{walk.root}/", "node")], check=True, cwd=tmp_path)
    host, copy = Node.of(tmp_path, walk.root), Node.of(tmp_path, "node")

    host.reconcile()
    copy.reconcile()

    assert copy.lists() == host.lists()
    assert list(copy.refusals()) == list(host.refusals())

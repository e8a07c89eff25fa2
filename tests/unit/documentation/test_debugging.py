"""docs/debugging.md: commands, probes, and what Allocate refuses."""

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from adapters.kubelet.status import _STATUS
from adapters.sysfs.vf_places import not_linked
from application.ports.pool_configuration import Configuration
from domain.announcement import GONE
from domain.errors import DeviceUnusable, FilesUnwritable, FunctionRefused, HostUnresponsive, NotServable
from domain.pci import PciAddress
from domain.resource_name import ResourceName
from tests.unit.application.loop import NEVER
from tests.unit.application.patient import MISSING, Patient
from tests.unit.documentation.commands import answer, copying, exchanges, furnish
from tests.unit.documentation.damage import messages
from tests.unit.documentation.markdown import GUIDES, blocks, codes, rows
from tests.unit.documentation.node import Node


def test_every_status_of_allocate_is_explained() -> None:
    told = {codes(row["Status"])[0] for row in rows("docs/debugging.md", "Status")}

    assert told == {"".join(map(str.title, code.name.split("_"))) for code in _STATUS.values()} | {"Internal"}


def test_the_examples_of_refused_allocations_are_real(hosts: Callable[[str], Path], tmp_path: Path) -> None:
    document = "docs/debugging.md"
    (config,) = blocks(document, "json")
    furnish(tmp_path, hosts(document), config)
    said = set(messages(document, "host", hosts(document), tmp_path))
    node = Node.of(tmp_path, "host")
    node.reconcile()
    with pytest.raises(NotServable) as unknown:
        node.allocate(ResourceName("intel.com", "kern"), ["0000:ff:00.0"])
    full = FilesUnwritable("…", "No space left on device", "free space and a writable directory are needed in …")
    said |= {str(unknown.value), str(HostUnresponsive("reading 0000:3b:01.0", 10)), str(full)}
    said |= {str(DeviceUnusable("0000:3b:01.0", "intel.com/kern", why)) for why in (GONE, "no carrier on ens1f0")}
    said.add(str(DeviceUnusable("0000:3b:01.1", "intel.com/kern", not_linked(PciAddress.parse("0000:3b:00.0")))))
    reset = "/sys/bus/pci/devices/0000:3b:01.0/reset"
    said.add(str(FunctionRefused("0000:3b:01.0", "reset", f"{reset}: Read-only file system")))
    said |= {codes(row["Message"])[0] for guide in GUIDES for row in rows(guide, "Message")}

    for row in rows(document, "Status"):
        example = codes(row["Example"])[0]
        assert example in said or codes(row["Status"]) == ["Internal"], example


def test_the_answers_of_probes_are_those_of_the_code() -> None:
    said: set[tuple[str, str]] = set()
    patients = [Patient() for _ in range(3)]
    slow, full, new = patients
    slow.loop.looks.takes, slow.ahead, slow.contact.pools = NEVER, 110, {ResourceName("intel.com", "dpdk"): 12}
    remedy = "free space and a writable directory are needed in …"
    full.loop.looks.error = FilesUnwritable("…", "No space left on device", remedy)
    new.loop.file.content = MISSING

    async def listen(patient: Patient) -> None:
        await (patient.loop.until(1) if patient is slow else patient.looked())
        said.update(("/livez", line) for line in patient.vitals.live().lines)
        said.update(("/readyz", line) for line in patient.vitals.ready().lines)

    for patient in patients:
        patient.loop.run(partial(listen, patient), MISSING if patient is new else Configuration(()))

    told = {(codes(row["Probe"])[0], *codes(row["Answer"])) for row in rows("docs/debugging.md", "Probe")}
    assert told - {("/livez",)} <= said


@pytest.mark.parametrize("document", ["README.md", "docs/debugging.md"])
def test_commands_answer_as_printed(
    document: str,
    hosts: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (config,) = blocks("docs/debugging.md", "json")
    furnish(tmp_path, hosts("docs/debugging.md"), config)
    monkeypatch.chdir(tmp_path)
    subprocess.run(["bash", "-c", copying("host/", "node")], check=True)
    dialogue = "".join(blocks(document, "console"))

    assert dialogue == "".join(f"$ {command}\n{answer(command, capsys)}" for command, _ in exchanges(dialogue))

"""The documentation is true: its commands answer as printed, its files load, its tables are those of the code."""

import ast
import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from dependency_injector import providers

from adapters.config.config_file import ConfigFile
from adapters.config.schema import FileEntry, PoolEntry, SelectorEntry
from adapters.kubelet.messages import container_response
from adapters.kubelet.status import _STATUS
from application.ports.pool_configuration import Configuration, ConfigurationInvalid, Problem
from domain.announcement import GONE
from domain.cdi import cdi_file
from domain.errors import DeviceUnusable, FilesUnwritable, FunctionRefused, HostUnresponsive, NotServable
from domain.exposure import FACILITIES
from domain.host import Host
from domain.pool import DeviceType, PoolSpec
from domain.resource_name import ResourceName
from entrypoints.cli import main
from entrypoints.container import Container, build
from entrypoints.settings import Settings
from tests.daemon.live import CLASSIC, DPDK, HASTY, KERN, WATCHER, Live, live
from tests.daemon.test_live_kubelet import drop_stream
from tests.fakes.journal import FakeJournal
from tests.fakes.kubelet import Timing
from tests.fakes.pool_publisher import FakePoolPublisher
from tests.golden.case import HERE, names
from tests.golden.later import LATER
from tests.hosts.host import SimHost
from tests.hosts.named import h1, h2
from tests.unit.application.loop import NEVER
from tests.unit.application.patient import MISSING, Patient

REPOSITORY = Path(__file__).parents[2]
DOCUMENTS = sorted(
    str(p.relative_to(REPOSITORY)) for pattern in ("*.md", "docs/**/*.md") for p in REPOSITORY.glob(pattern)
)
GUIDES = [document for document in DOCUMENTS if document.startswith("docs/guides/")]
CODE = ("domain", "application", "adapters", "entrypoints")
LEVELS = {"debug", "info", "warning", "error"}
TYPES = [kind.value for kind in DeviceType]


# -- Markdown ---------------------------------------------------------------------------------------------------------
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


# -- Form -------------------------------------------------------------------------------------------------------------
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


# -- Configuration ----------------------------------------------------------------------------------------------------
def load(directory: Path, config: str, *, strict: bool = False) -> Configuration:
    path = directory / "config.json"
    path.write_text(config, encoding="utf-8")
    return ConfigFile(path, "intel.com", strict=strict).load()


def problems(directory: Path, file: dict[str, Any]) -> tuple[Problem, ...]:
    try:
        return load(directory, json.dumps(file)).warnings
    except ConfigurationInvalid as invalid:
        return invalid.problems


def pool(**keys: Any) -> dict[str, Any]:
    """A file with one pool."""
    return {"resourceList": [{"resourceName": "p", "selectors": {}, **keys}]}


def aliases(entry: type[PoolEntry | SelectorEntry]) -> set[str]:
    return {field.alias or name for name, field in entry.model_fields.items()}


def test_every_setting_is_told_with_flag_variable_and_default() -> None:
    table = rows("docs/configuration.md", "Flag")
    told = {tuple(codes(row["Flag"] + row["Variable"])): row["Default"].strip("`") for row in table}

    shown = {"None": "none", "False": "off", "True": "on"}
    assert told == {
        (f"--{name.replace('_', '-')}", f"SRIOVDP_{name.upper()}"): shown.get(str(field.default), str(field.default))
        for name, field in Settings.model_fields.items()
    }


@pytest.mark.parametrize("entry", [PoolEntry, SelectorEntry])
def test_every_key_of_the_file_is_told_with_an_example_and_where_it_may_stand(
    entry: type[PoolEntry | SelectorEntry], tmp_path: Path
) -> None:
    first = "Key of a pool" if entry is PoolEntry else "Key of a selector"
    told = {key: row for row in rows("docs/configuration.md", first) for key in codes(row[first])}

    assert set(told) == aliases(entry)
    for key, row in told.items():
        example, *others = codes(row["Example"])
        value = {key: json.loads(example)}
        keys = {**value, **json.loads(f"{{{', '.join(others)}}}")} if entry is PoolEntry else {"selectors": value}
        accepted = {kind for kind in TYPES if not problems(tmp_path, pool(**{"deviceType": kind, **keys}))}
        assert accepted == set(TYPES if row["For"] == "all" else codes(row["For"])), key


def test_every_key_around_the_pools_is_told_with_an_example(tmp_path: Path) -> None:
    told = {codes(row["Key of the file"])[0]: row for row in rows("docs/configuration.md", "Key of the file")}

    assert set(told) == {field.alias for field in FileEntry.model_fields.values()}
    for key, row in told.items():
        file = {**pool(), key: json.loads(codes(row["Example"])[0])}
        assert not any(problem.fatal for problem in problems(tmp_path, file)), key


@pytest.mark.parametrize("config", blocks("docs/configuration.md", "json") + blocks("docs/debugging.md", "json"))
def test_printed_configurations_are_served_without_a_warning(config: str, tmp_path: Path) -> None:
    assert load(tmp_path, config, strict=True).pools


def bad_values() -> list[dict[str, str]]:
    return rows("docs/configuration.md", "Where")


@pytest.mark.parametrize("row", bad_values(), ids=lambda row: f"{row['Where']}: {row['Written']}")
def test_a_bad_value_gets_the_answer_printed(row: dict[str, str], tmp_path: Path) -> None:
    written = json.loads(f"{{{codes(row['Written'])[0]}}}")
    match row["Where"]:
        case "file":
            file = written
        case "pool":
            file = pool(**written)
        case "selector":
            file = pool(selectors=written)
        case kind:
            file = pool(deviceType=kind, selectors=written)

    (problem,) = set(problems(tmp_path, file))

    assert row["Answer"] == f"`{problem.message}{f' ({problem.hint})' if problem.hint else ''}`"
    assert row["Gets"] == ("refused" if problem.fatal else "warning")


def test_every_provider_of_info_is_told() -> None:
    told = {codes(row["Provider"])[0] for row in rows("docs/configuration.md", "Provider")}

    exposed = {"VhostNet": "vhost"}
    assert told == {exposed.get(name, name.lower()) for name in (type(f).__name__ for f in FACILITIES)}


def test_every_kind_and_file_of_cdi_is_told() -> None:
    told = {codes(row["Device type"])[0]: codes(row["Kind"] + row["File"]) for row in rows(CDI, "Device type")}

    specs = [PoolSpec(ResourceName("prefix", "NAME"), (), kind) for kind in DeviceType]
    files = [(spec.device_type.value, cdi_file(spec, (), Host())) for spec in specs]
    assert told == {kind: [f.replace("prefix", "PREFIX") for f in (file.kind, file.name)] for kind, file in files}


# -- Debugging --------------------------------------------------------------------------------------------------------
def journal_methods(node: ast.AST) -> set[str]:
    """The levels at which an expression reaches for the journal."""
    return {
        inner.attr
        for inner in ast.walk(node)
        if isinstance(inner, ast.Attribute)
        and inner.attr in LEVELS
        and isinstance(inner.value, ast.Attribute | ast.Name)
        and ast.unparse(inner.value).endswith("journal")
    }


def events() -> dict[str, set[str]]:
    """Every event that the code tells, with its levels."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in (path for room in CODE for path in (REPOSITORY / room).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assigned = {
            target.id: journal_methods(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            by_name = assigned.get(call.func.id, set()) if isinstance(call.func, ast.Name) else set()
            if levels := by_name or (journal_methods(call.func) if isinstance(call.func, ast.Attribute) else set()):
                found[ast.literal_eval(call.args[0])] |= levels
    return found


def test_every_event_of_the_log_is_explained_with_its_level() -> None:
    told = {codes(row["Event"])[0]: set(row["Level"].split(", ")) for row in rows("docs/debugging.md", "Event")}

    assert told == events()


def test_every_status_of_allocate_is_explained() -> None:
    told = {codes(row["Status"])[0] for row in rows("docs/debugging.md", "Status")}

    assert told == {"".join(map(str.title, code.name.split("_"))) for code in _STATUS.values()} | {"Internal"}


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


def answer(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    main(shlex.split(command)[1:])
    printed = capsys.readouterr()
    return printed.out + printed.err


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


# -- Hosts of the examples --------------------------------------------------------------------------------------------
@pytest.fixture(scope="session")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Runs the program of a document that makes its simulated hosts, once."""

    @cache
    def made(document: str) -> Path:
        directory = tmp_path_factory.mktemp("hosts")
        (program,) = blocks(document, "python")
        (directory / "host.py").write_text(program, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        subprocess.run([sys.executable, "host.py"], check=True, cwd=directory, env=environment)
        return directory

    return made


def furnish(place: Path, hosts: Path, config: str) -> None:
    """Make a directory the one in which the commands of a document are given."""
    for host in hosts.iterdir():
        (place / host.name).symlink_to(host)
    (place / "config.json").write_text(config, encoding="utf-8")


def copying(host: str, copy: str) -> str:
    """The script that copies a host, from one directory to another."""
    (script,) = (block for block in blocks("docs/debugging.md", "sh") if block.startswith("from=/ "))
    return script.replace("from=/ to=$PWD/node", f"from=$PWD/{host} to=$PWD/{copy}")


def exchanges(dialogue: str) -> list[tuple[str, str]]:
    """Commands and what they print."""
    parts = re.split(r"^\$ (.*)\n", dialogue, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


@dataclass(frozen=True, slots=True)
class Walk:
    """A section that leads from a configuration to what a container sees."""

    document: str
    heading: str
    content: str

    @property
    def config(self) -> str:
        (config,) = fenced(self.content, "json")
        return config

    @property
    def dialogue(self) -> str:
        return "".join(fenced(self.content, "console"))

    @property
    def root(self) -> str:
        """The directory of its host."""
        (root,) = set(re.findall(r"--root=(\S+)", self.dialogue))
        return str(root)

    @property
    def variables(self) -> dict[str, list[str]]:
        """The devices that its pod has, by the variable that lists them."""
        said = (re.fullmatch(r"kubectl exec .*-- printenv (\w+)", command) for command, _ in exchanges(self.dialogue))
        return {
            found[1]: output.strip().split(",")
            for found, (_, output) in zip(said, exchanges(self.dialogue), strict=True)
            if found and not found[1].endswith("_INFO")
        }

    @property
    def manifests(self) -> list[dict[str, Any]]:
        printed = (output for command, output in exchanges(self.dialogue) if command.startswith("sriovdp nad"))
        return [each for part in (*printed, *fenced(self.content, "yaml")) for each in yaml.safe_load_all(part)]


WALKS: Final = [
    Walk(document, heading, content)
    for document in GUIDES
    for heading, content in sections(document).items()
    if fenced(content, "json")
]


@dataclass(frozen=True, slots=True)
class Node:
    """The daemon's own parts on a simulated host, without a kubelet."""

    place: Path
    container: Container
    journal: FakeJournal

    @classmethod
    def of(cls, place: Path, root: str, *, use_cdi: bool = False) -> "Node":
        settings = Settings(
            config_file=place / "config.json",
            root=place / root,
            kubelet_dir=place / "kubelet",
            devinfo_dir=place / "dp",
            cdi_dir=place / "cdi",
            use_cdi=use_cdi,
        )
        journal = FakeJournal()
        container = build(settings, journal)
        container.publisher.override(providers.Object(FakePoolPublisher()))
        container.table().wanted = container.configuration().load().pools
        return cls(place, container, journal)

    def reconcile(self) -> None:
        asyncio.run(self.container.discovery().reconcile())

    def allocate(self, pool: ResourceName, ids: Sequence[str]) -> Any:
        """What one container gets, as the kubelet is told."""
        (granted,) = asyncio.run(self.container.allocation().allocate(pool, [ids]))
        return container_response(granted)

    def lists(self) -> list[tuple[str, str, str | None]]:
        """Every pool's devices with what is wrong with each."""
        lists = self.container.table().lists
        return [(str(name), entry.id, entry.fault) for name, entries in lists.items() for entry in entries]

    def refusals(self) -> Iterator[str]:
        """Everything that `sriovdp explain` says against a device or a pool."""
        found = self.container.explain()()
        for trail in found.trails:
            yield from (str(r) for verdict in trail.verdicts for r in verdict.refusals)
            yield from [str(trail.unusable)] if trail.unusable else []
        yield from (advice.text for advice in found.advice)
        yield from found.unreadable.values()


class Pod:
    """A container with devices of some pools, and the files on its node."""

    def __init__(self, node: Node, devices: dict[str, list[str]]) -> None:
        self._place = node.place
        self._environment: dict[str, str] = {}
        self._nodes: set[str] = set()
        for spec in node.container.table().wanted:
            if ids := devices.get(spec.name.variables[-1]):
                told = node.allocate(spec.name, ids)
                self._environment |= dict(told.envs)
                self._nodes |= {device.container_path for device in told.devices}
                self._nodes |= {path for device in told.cdi_devices for path in self._injected(device.name)}

    def says(self, command: str) -> str:
        """The output of a command in the container or on the node."""
        words = shlex.split(command.removesuffix(" | jq"))
        match words[words.index("--") + 1 :] if words[0] == "kubectl" else words:
            case ["printenv", name]:
                value = self._environment[name]
                return _jq(value) if command.endswith("| jq") else f"{value}\n"
            case ["ls", "-1", *paths]:
                return "".join(f"{name}\n" for name in sorted(name for path in paths for name in self._listed(path)))
            case ["jq", ".", path]:
                return _jq(self._file(path).read_text(encoding="utf-8"))
        raise AssertionError(command)

    def _listed(self, path: str) -> Iterator[str]:
        """What `ls -1` says of a device node, or of a directory of some."""
        below = [node.removeprefix(f"{path}/") for node in self._nodes if node.startswith(f"{path}/")]
        assert below or path in self._nodes, path
        yield from {name.partition("/")[0] for name in below} or {path}

    def _file(self, path: str) -> Path:
        directory, _, name = path.rpartition("/")
        fields = Settings.model_fields
        places = {str(fields["devinfo_dir"].default): "dp", str(fields["cdi_dir"].default): "cdi"}
        return self._place / places[directory] / name

    def _injected(self, qualified: str) -> Iterator[str]:
        kind, _, name = qualified.partition("=")
        for file in (self._place / "cdi").iterdir():
            described = json.loads(file.read_text(encoding="utf-8"))
            for device in described["devices"]:
                if (described["kind"], device["name"]) == (kind, name):
                    yield from (node["path"] for node in device["containerEdits"]["deviceNodes"])


def _jq(value: str) -> str:
    return json.dumps(json.loads(value), indent=2) + "\n"


# -- Guides -----------------------------------------------------------------------------------------------------------
CDI: Final = "docs/guides/cdi.md"


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


_FUNCTIONS: Final = "sys/bus/pci/devices"

#: What goes wrong on the hosts of a document: shell commands in the root of each.
DAMAGE: Final[dict[str, dict[str, list[str]]]] = {
    "docs/debugging.md": {
        "host": [f"sed -i s/iavf/vfio-pci/ {_FUNCTIONS}/0000:3b:01.0/uevent", f"rm {_FUNCTIONS}/0000:3b:01.1"],
    },
    "docs/guides/accelerators.md": {"host": ["rm dev/vfio/61"]},
    "docs/guides/dpdk.md": {
        "vfio": [
            "rm dev/vfio/101",
            "rm dev/net/tun",
            f"rm {_FUNCTIONS}/0000:3b:01.0/iommu_group",
            f"sed -i s/vfio-pci/iavf/ {_FUNCTIONS}/0000:3b:01.0/uevent",
            "rm sys/class/net/ens1f0; rm -r sys/devices/*/*/0000:3b:00.0/net",
        ],
        "uio": [f"rm -r {_FUNCTIONS}/0000:3b:01.0/uio/uio3"],
        "iommufd": ["rm dev/iommu", f"rm -r {_FUNCTIONS}/0000:3b:01.2/vfio-dev"],
    },
    "docs/guides/rdma.md": {
        "shared": [
            f"rm -r {_FUNCTIONS}/0000:5e:00.3/infiniband_verbs",
            f"rm -r {_FUNCTIONS}/0000:5e:00.3/infiniband* {_FUNCTIONS}/0000:5e:00.3/mlx5_core.rdma.5",
            "rm dev/infiniband/uverbs5",
        ],
        "infiniband": [f"echo 1 > {_FUNCTIONS}/0000:d8:00.0/net/ibs5/type"],
    },
    "docs/guides/subfunctions.md": {
        "host": [
            f"rm -r {_FUNCTIONS}/0000:03:00.0/mlx5_core.sf.4",
            f"rm {_FUNCTIONS}/0000:03:00.0/mlx5_core.sf.5/driver",
            f"rm -r {_FUNCTIONS}/0000:03:00.0/mlx5_core.sf.5/infiniband",
        ],
    },
    "docs/guides/vdpa.md": {
        "host": [
            f"rm -r sys/bus/vdpa/devices/vdpa0 {_FUNCTIONS}/0000:65:00.2/vdpa0",
            f"rm -r {_FUNCTIONS}/0000:65:00.2/vdpa0/vhost-vdpa-0",
        ],
    },
    "docs/guides/virtual-machines.md": {
        "host": [
            "rm dev/vfio/101",
            f"rm {_FUNCTIONS}/0000:3b:01.0/iommu_group",
            f"sed -i s/vfio-pci/iavf/ {_FUNCTIONS}/0000:3b:01.0/uevent",
        ],
    },
}


def messages(document: str, root: str, hosts: Path, place: Path) -> Iterator[str]:
    """Everything that is said of a host as it is and after each damage: at Allocate, and by a fresh start."""
    for number, damage in enumerate(["true", *DAMAGE.get(document, {}).get(root, [])]):
        host = f"{root}-{number}"
        shutil.copytree(hosts / root, place / host, symlinks=True)
        before = Node.of(place, host)
        before.reconcile()
        subprocess.run(["bash", "-ec", damage], check=True, cwd=place / host)
        for name, id_, fault in before.lists():
            if fault is None:
                with suppress(NotServable):
                    before.allocate(ResourceName.parse(name), [id_])
        yield from (facts["reason"] for facts in before.journal.told("allocation refused"))
        after = Node.of(place, host)
        after.reconcile()
        yield from (fault for _, _, fault in after.lists() if fault)
        yield from after.refusals()


@pytest.mark.parametrize("document", [guide for guide in GUIDES if rows(guide, "Message")])
def test_the_messages_of_a_guide_are_real(document: str, hosts: Callable[[str], Path], tmp_path: Path) -> None:
    said = {codes(row["Answer"])[0] for row in bad_values()}
    for number, walk in enumerate(walk for walk in WALKS if walk.document == document):
        place = tmp_path / str(number)
        place.mkdir()
        (place / "config.json").write_text(walk.config, encoding="utf-8")
        said.update(messages(document, walk.root, hosts(document), place))

    assert {codes(row["Message"])[0] for row in rows(document, "Message")} <= said


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
    reset = "/sys/bus/pci/devices/0000:3b:01.0/reset"
    said.add(str(FunctionRefused("0000:3b:01.0", "reset", f"{reset}: Read-only file system")))
    said |= {codes(row["Message"])[0] for guide in GUIDES for row in rows(guide, "Message")}

    for row in rows(document, "Status"):
        example = codes(row["Example"])[0]
        assert example in said or codes(row["Status"]) == ["Internal"], example


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: f"{walk.document}: {walk.heading}")
def test_a_copy_of_a_host_is_as_good_as_the_host(walk: Walk, hosts: Callable[[str], Path], tmp_path: Path) -> None:
    furnish(tmp_path, hosts(walk.document), walk.config)
    subprocess.run(["bash", "-c", copying(f"{walk.root}/", "node")], check=True, cwd=tmp_path)
    host, copy = Node.of(tmp_path, walk.root), Node.of(tmp_path, "node")

    host.reconcile()
    copy.reconcile()

    assert copy.lists() == host.lists()
    assert list(copy.refusals()) == list(host.refusals())


# -- Life cycle -------------------------------------------------------------------------------------------------------
LIFECYCLE: Final = "docs/lifecycle.md"
LINK: Final = {**KERN, "health": "link"}
RENAMED: Final = {**KERN, "resourceName": "kernel"}
PORTS: Final = {"resourceName": "ports", "selectors": {"drivers": ["ixgbe"]}}


@dataclass(frozen=True, slots=True)
class Said:
    """A line of the log, and when it was written."""

    at: float
    line: str


class Teller:
    """A node on which a story happens."""

    def __init__(self, node: Live) -> None:
        self.node = node
        self._steps: list[tuple[str, float]] = []

    def step(self, what: str) -> None:
        """What an operator does, or what befalls the node."""
        self._steps.append((what, time.time()))

    def told(self) -> list[tuple[str, list[Said]]]:
        """Each step, and what the log says until the next one; seconds count from the step."""
        events = sorted((event for log in self.node.logs for event in log.events), key=lambda e: str(e["timestamp"]))
        ends = [at for _, at in self._steps[1:]] + [float("inf")]
        return [
            (what, [Said(at - began, self._line(event)) for event in events if began <= (at := _time(event)) < end])
            for (what, began), end in zip(self._steps, ends, strict=True)
        ]

    def _line(self, event: dict[str, Any]) -> str:
        facts = {key: value for key, value in event.items() if key not in {"event", "level", "timestamp"}}
        shown = " ".join(f"{key}={_fact(value)}" for key, value in facts.items())
        line = f"{event['level']}  {event['event']}  {shown}".rstrip()
        for path, place in (
            (self.node.config, "/etc/pcidp/config.json"),
            (self.node.devinfo, str(Settings.model_fields["devinfo_dir"].default)),
            (self.node.laid.root, ""),
            (self.node.directory, "/var/lib/kubelet"),
        ):
            line = line.replace(str(path), place)
        return re.sub(r"-[0-9a-f]{10,}\.sock", "-<time>.sock", line)


def _time(event: dict[str, Any]) -> float:
    return datetime.fromisoformat(event["timestamp"]).timestamp()


def _fact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


Story = Callable[[Teller], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Scene:
    """A story and the node that it happens on."""

    story: Story
    host: Callable[[], SimHost] = h1
    pools: tuple[dict[str, Any], ...] = (KERN,)
    way: str = WATCHER
    timing: Timing = HASTY

    async def play(self) -> list[tuple[str, list[Said]]]:
        async with live(self.host(), *self.pools, way=self.way, timing=self.timing) as node:
            teller = Teller(node)
            await self.story(teller)
            await asyncio.sleep(0.2)  # for what is said last
            return teller.told()


async def started(node: Live, pool: str = "kern", devices: int = 4) -> None:
    await node.start()
    await node.served(pool, devices)


async def boot(teller: Teller) -> None:
    node = teller.node
    teller.step("the plugin starts: there are no VFs yet")
    await node.start()
    await node.process.until_told("nothing to serve")
    await asyncio.sleep(0.5)
    teller.step("the SR-IOV operator makes four VFs")
    node.laid.create_vfs("0000:3b:00.0", 4)
    await node.served("kern", 4)


async def kubelet_restarts(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("systemctl stop kubelet")
    await node.kubelet.kill()
    await asyncio.sleep(1)
    teller.step("systemctl start kubelet")
    await node.kubelet.boot()
    await node.until(lambda: node.streams("kern") == 2)
    await node.served("kern", 4)


async def plugin_restarts(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("the kubelet stops the old pod")
    await node.stop()
    teller.step("the new pod starts")
    await node.start()
    await node.until(lambda: node.streams("kern") == 2)
    await node.served("kern", 4)


async def plugin_dies(teller: Teller) -> None:
    node = teller.node
    await started(node)
    await node.kill()
    teller.step("the kubelet starts the container again")
    await node.start()
    await node.until(lambda: node.streams("kern") == 2)
    await node.served("kern", 4)


async def stream_drops(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("the kubelet drops the stream")
    drop_stream(node, "kern")
    await node.until(lambda: node.streams("kern") == 2)
    await node.served("kern", 4)


async def socket_goes(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("rm /var/lib/kubelet/plugins_registry/intel.com_kern.sock")
    node.socket("kern").unlink()
    await node.until(lambda: node.streams("kern") == 2)


async def vfs_come_and_go(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("echo 0 > /sys/class/net/ens1f0/device/sriov_numvfs")
    node.laid.remove_vfs("0000:3b:00.0")
    await node.counts("kern", 0, 0)
    await asyncio.sleep(0.5)
    teller.step("echo 2 > /sys/class/net/ens1f0/device/sriov_numvfs")
    node.laid.create_vfs("0000:3b:00.0", 2)
    await node.counts("kern", 2, 2)


async def free_vf_is_rebound(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("dpdk-devbind.py -b vfio-pci 0000:3b:01.1")
    node.laid.rebind("0000:3b:01.1", "vfio-pci")
    await node.counts("kern", 3, 3)
    await node.served("dpdk", 1)


async def held_vf_is_rebound(teller: Teller) -> None:
    node = teller.node
    await started(node)
    (held,) = await node.holds("pod", "kern")
    teller.step(f"dpdk-devbind.py -b vfio-pci {held}, which a pod holds")
    node.laid.rebind(held, "vfio-pci")
    await node.counts("kern", 4, 3)
    await asyncio.sleep(1)
    teller.step("the pod ends")
    await node.kubelet.terminate("pod")
    await node.counts("kern", 3, 3)
    await node.served("dpdk", 1)


async def pf_is_unplugged(teller: Teller) -> None:
    node = teller.node
    await started(node)
    await node.holds("pod", "kern")
    teller.step("the PF of four VFs is unplugged; a pod holds one of them")
    node.laid.remove_function("0000:3b:00.0")
    await node.counts("kern", 1, 0)


async def cable_is_pulled(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("the cable is pulled")
    node.laid.set_carrier("ens1f0", False)
    await node.counts("kern", 4, 0)
    await asyncio.sleep(0.5)
    teller.step("the cable is back")
    node.laid.set_carrier("ens1f0", True)
    await node.counts("kern", 4, 4)


async def node_goes(teller: Teller) -> None:
    node = teller.node
    await started(node, "dpdk")
    teller.step("/dev/vfio/101 goes")
    node.laid.tree.delete("dev/vfio/101")
    await node.counts("dpdk", 4, 3)
    await asyncio.sleep(0.5)
    teller.step("/dev/vfio/101 is back")
    node.laid.tree.node("dev/vfio/101")
    await node.counts("dpdk", 4, 4)


async def route_moves(teller: Teller) -> None:
    node = teller.node
    await started(node, "ports", 1)
    teller.step("ip route replace default via 192.0.2.1 dev eno2")
    node.laid.uses.add_default_route("eno2", "192.0.2.1")
    await node.counts("ports", 0, 0)
    await asyncio.sleep(0.5)
    teller.step("ip route del default via 192.0.2.1 dev eno2")
    node.laid.uses.drop_routes("eno2")
    await node.counts("ports", 1, 1)


async def configuration_is_edited(teller: Teller) -> None:
    node = teller.node
    await started(node)
    teller.step("the file gets a second pool")
    node.configure(KERN, PORTS)
    await node.served("ports", 1)
    teller.step("the file gets a comma too many")
    text = node.config.read_text(encoding="utf-8")
    node.config.write_text(text.replace("]}", ",]}"), encoding="utf-8")
    await node.process.until_told("configuration rejected")
    teller.step("the comma is taken out again")
    node.config.write_text(text, encoding="utf-8")
    await node.process.until_told("configuration good again")


async def pool_is_taken_out(teller: Teller) -> None:
    node = teller.node
    await started(node)
    await node.holds("pod", "kern")
    teller.step("pool kern is taken out of the file; a pod holds one of its four VFs")
    node.configure(PORTS)
    await node.counts("kern", 1, 0)
    await asyncio.sleep(1)
    teller.step("the pod ends")
    await node.kubelet.terminate("pod")
    await node.process.until_told("pool withdrawn")


async def pool_is_renamed(teller: Teller) -> None:
    node = teller.node
    await started(node)
    await node.holds("pod", "kern")
    teller.step("pool kern is now called kernel; a pod holds one of its four VFs")
    node.configure(RENAMED)
    await node.served("kernel", 3)
    await node.counts("kern", 1, 0)
    await asyncio.sleep(1)
    teller.step("the pod ends")
    await node.kubelet.terminate("pod")
    await node.served("kernel", 4)
    await node.process.until_told("pool withdrawn")


def with_port() -> SimHost:
    """H1, and a NIC without VFs."""
    host = h1()
    host.function("0000:5e:00.0", device="1563", driver="ixgbe", netdevs=["eno2"])
    return host


#: What happens in the sections of the document, a scene for each block of log lines.
SCENES: Final[dict[str, list[Scene]]] = {
    "The node boots": [Scene(boot, lambda: h1(vfs=0))],
    "The kubelet is restarted or upgraded": [Scene(kubelet_restarts), Scene(kubelet_restarts, way=CLASSIC)],
    "The plugin is upgraded, or dies": [Scene(plugin_restarts), Scene(plugin_dies)],
    "The kubelet drops a stream": [Scene(stream_drops)],
    "Somebody deletes a socket": [Scene(socket_goes)],
    "VFs are made and removed": [Scene(vfs_come_and_go)],
    "A driver is bound": [Scene(free_vf_is_rebound, pools=(KERN, DPDK)), Scene(held_vf_is_rebound, pools=(KERN, DPDK))],
    "A PF is unplugged": [Scene(pf_is_unplugged)],
    "The cable is pulled": [Scene(cable_is_pulled, pools=(LINK,))],
    "A device node goes": [Scene(node_goes, h2, (DPDK,))],
    "The default route moves onto a PF": [Scene(route_moves, with_port, (KERN, PORTS))],
    "The configuration is edited": [Scene(configuration_is_edited, with_port)],
    "A pool is taken out, or renamed": [Scene(pool_is_taken_out, with_port), Scene(pool_is_renamed)],
}


Played = list[tuple[str, list[Said]]]


async def played() -> dict[str, list[Played]]:
    """Every scene, four at a time: most of the time they wait."""
    stage = asyncio.Semaphore(4)

    async def play(scene: Scene) -> Played:
        async with stage:
            return await scene.play()

    flat = iter(await asyncio.gather(*(play(scene) for scenes in SCENES.values() for scene in scenes)))
    return {heading: [next(flat) for _ in scenes] for heading, scenes in SCENES.items()}


def printed(block: str) -> Played:
    """The steps of a block of log lines, and the lines after each, with their seconds."""
    steps: Played = []
    for line in block.splitlines():
        if line.startswith("# "):
            steps.append((line.removeprefix("# "), []))
        else:
            seconds, _, rest = line.strip().partition("  ")
            steps[-1][1].append(Said(float(seconds), rest))
    return steps


@pytest.fixture(scope="session")
def performance() -> dict[str, list[Played]]:
    return asyncio.run(played())


def constant(path: str, name: str) -> float:
    """The number that a name is given in a file, also as the default of a setting."""
    for node in ast.walk(ast.parse(text(path))):
        if isinstance(node, ast.AnnAssign | ast.Assign) and node.value:
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                value = node.value
                if isinstance(value, ast.Call):
                    (value,) = (keyword.value for keyword in value.keywords if keyword.arg == "default")
                return float(ast.literal_eval(value))
    raise AssertionError(f"{path} has no {name}")


@pytest.mark.parametrize("row", rows(LIFECYCLE, "Time"), ids=lambda row: row["Time"])
def test_the_times_of_the_life_cycle_are_those_of_the_code(row: dict[str, str]) -> None:
    path, name = codes(row["Decided in"])

    assert float(row["Seconds"]) == constant(path, name)


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
def test_a_log_is_printed_as_the_life_cycle_shows_it() -> None:
    (command,) = blocks(LIFECYCLE, "sh")
    line = {"resource": "intel.com/kern", "devices": ["a", "b"], "event": "allocated", "level": "info"}
    log = json.dumps({**line, "timestamp": "2026-11-29T19:54:30.726869Z"}) + "\nno JSON\n"
    _, _, program = command.partition("|")

    done = subprocess.run(["bash", "-c", program], input=log, capture_output=True, text=True, check=True)

    assert done.stdout == '19:54:30.72  info  allocated  resource=intel.com/kern devices=["a","b"]\n'


def test_every_section_of_the_life_cycle_with_a_log_is_played() -> None:
    logs = {heading: len(fenced(content, "log")) for heading, content in sections(LIFECYCLE).items()}

    assert {heading: number for heading, number in logs.items() if number} == {
        heading: len(scenes) for heading, scenes in SCENES.items()
    }


@pytest.mark.parametrize("heading", SCENES)
def test_the_log_of_a_life_cycle_event_is_the_daemons(heading: str, performance: dict[str, list[Played]]) -> None:
    for block, told in zip(fenced(sections(LIFECYCLE)[heading], "log"), performance[heading], strict=True):
        assert [step for step, _ in printed(block)] == [step for step, _ in told]
        for (step, lines), (_, said) in zip(printed(block), told, strict=True):
            assert not Counter(line.line for line in lines) - Counter(line.line for line in said), (step, said)


# -- Differences ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("row", rows("docs/differences.md", "Here"), ids=lambda row: row["Here"][:40])
def test_every_difference_has_a_reason_and_a_test(row: dict[str, str]) -> None:
    if row["Here"].startswith("**"):
        return
    path, _, name = codes(row["Test"])[0].partition("::")
    tree = ast.parse(text(path))

    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert row["Why"] not in {"", "-"}
    assert re.fullmatch(r"-|[A-I]\d\d( [A-I]\d\d)*", row["Case"])


def test_every_recording_in_which_the_go_plugin_is_wrong_is_told() -> None:
    wrong = {name for name in names() if not json.loads((HERE / "cases" / f"{name}.json").read_text())["right"]}
    told = {name for row in rows("docs/differences.md", "Here") for name in codes(row["Golden"])}

    assert told == wrong - LATER.keys()

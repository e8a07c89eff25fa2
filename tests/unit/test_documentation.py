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
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from dependency_injector import providers

from adapters.config.config_file import ConfigFile
from adapters.config.schema import PoolEntry, SelectorEntry
from adapters.kubelet.messages import container_response
from adapters.kubelet.status import _STATUS
from application.ports.pool_configuration import Configuration, ConfigurationInvalid, Problem
from domain.cdi import cdi_file
from domain.errors import FilesUnwritable, HostUnresponsive, NotServable
from domain.exposure import FACILITIES
from domain.host import Host
from domain.pool import DeviceType, PoolSpec
from domain.resource_name import ResourceName
from entrypoints.cli import main
from entrypoints.container import Container, build
from entrypoints.settings import Settings
from tests.fakes.journal import FakeJournal
from tests.fakes.pool_publisher import FakePoolPublisher
from tests.golden.case import HERE, names
from tests.golden.later import LATER

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
        value = {key: json.loads(codes(row["Example"])[0])}
        keys = value if entry is PoolEntry else {"selectors": value}
        accepted = {kind for kind in TYPES if not problems(tmp_path, pool(**{"deviceType": kind, **keys}))}
        assert accepted == set(TYPES if row["For"] == "all" else codes(row["For"])), key


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

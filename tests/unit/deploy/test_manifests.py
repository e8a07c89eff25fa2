import json
import os
import tomllib
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path, PurePath
from typing import Any

import pytest

from adapters.config.config_file import ConfigFile
from adapters.kubelet.publisher import KubeletPaths
from adapters.sysfs.host_reader import SysfsHostReader
from adapters.sysfs.tree import Tree
from entrypoints.command_line import Parser, add_settings, settings
from entrypoints.settings import Settings, host_and_port
from tests.hosts.named import h2
from tests.unit.deploy.manifest import DEPLOY, OPERATOR, OWN, REPOSITORY, Workload, document

CONFIG_MAP = document(DEPLOY / "configmap.yaml")
PREFIX = "SRIOVDP_"


@pytest.fixture(params=[OWN, OPERATOR], ids=["own", "operator"])
def workload(request: pytest.FixtureRequest) -> Workload:
    return Workload(request.param)


@pytest.fixture
def own() -> Workload:
    return Workload(OWN)


@pytest.fixture
def chosen(workload: Workload, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """What the daemon makes of the manifest; it refuses what it does not know by SystemExit."""
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)
    for name, value in workload.variables.items():
        monkeypatch.setenv(name, value)
    parser = Parser()
    add_settings(parser, Settings.model_fields)
    return settings(parser, parser.parse(workload.arguments))


def written(chosen: Settings) -> set[PurePath]:
    """The directories the daemon writes to."""
    kubelet = KubeletPaths(chosen.kubelet_dir, chosen.kubelet_host_dir or chosen.kubelet_dir)
    optional = [chosen.log_dir, chosen.cdi_dir if chosen.use_cdi else None]
    return {kubelet.classic, kubelet.watcher, chosen.devinfo_dir, *(path for path in optional if path)}


def asked_of_the_host(root: Path, monkeypatch: pytest.MonkeyPatch) -> set[PurePath]:
    """Every path that the daemon looks at on a host with VFs on vfio-pci, with / for the root."""
    asked: set[PurePath] = set()

    def noting(method: Callable[..., Any]) -> Callable[..., Any]:
        def noted(tree: Tree, path: str) -> Any:
            asked.add(PurePath("/", path))
            return method(tree, path)

        return noted

    for name, method in vars(Tree).items():
        if not name.startswith("_"):
            monkeypatch.setattr(Tree, name, noting(method))
    h2().lay(root)
    reader = SysfsHostReader(root)
    host = reader.read()
    reader.reread(host, [str(address) for address in host.functions])
    return asked


def test_the_arguments_are_what_the_daemon_gets_to_hear(workload: Workload, chosen: Settings) -> None:
    given = {argument.partition("=")[0] for argument in workload.arguments}

    assert {f"--{name.replace('_', '-')}" for name in chosen.model_fields_set} == given


def test_every_variable_is_a_setting_or_part_of_an_argument(workload: Workload) -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}

    assert set(workload.variables) <= known | workload.variables_used
    assert workload.variables_used <= set(workload.variables)


def test_the_daemon_may_write_where_it_has_to_and_nowhere_else(workload: Workload, chosen: Settings) -> None:
    writable = {mount.path for mount in workload.mounts if not mount.read_only}

    assert writable == written(chosen)
    assert workload.container["securityContext"]["readOnlyRootFilesystem"] is True


def test_what_is_mounted_lies_on_the_host_where_it_lies_in_the_container(workload: Workload) -> None:
    from_host = {str(mount.path): mount.host_path["path"] for mount in workload.mounts if mount.host_path}

    assert {inside: outside for inside, outside in from_host.items() if inside != outside} == {}


def test_the_configuration_file_comes_from_a_config_map_and_follows_its_edits(
    workload: Workload, chosen: Settings
) -> None:
    mount = workload.mount_of(chosen.config_file)

    assert mount is not None
    assert mount.config_map
    assert mount.read_only
    assert all("subPath" not in entry for entry in workload.container["volumeMounts"])


def test_every_path_that_is_read_on_the_host_is_there(
    workload: Workload, chosen: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A container in the host's network namespace has these by itself; a /dev that is not the host's needs not be it.
    present = {"sys", "proc", "dev"}
    assert workload.pod["hostNetwork"] is True
    assert chosen.root == Path("/")

    asked = asked_of_the_host(tmp_path, monkeypatch)

    assert {path.parts[1] for path in asked} == {"sys", "proc", "dev"}
    assert {path for path in asked if path.parts[1] not in present and workload.mount_of(path) is None} == set()


def test_nothing_is_mounted_that_the_daemon_does_not_use(
    workload: Workload, chosen: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pod_resources = chosen.kubelet_dir / "pod-resources"
    used = {*written(chosen), chosen.config_file, pod_resources, *asked_of_the_host(tmp_path, monkeypatch)}

    assert [mount.path for mount in workload.mounts if not any(map(mount.holds, used))] == []


def test_which_devices_containers_hold_can_be_asked(own: Workload) -> None:
    mount = own.mount_of(Settings.model_fields["kubelet_dir"].default / "pod-resources" / "kubelet.sock")

    assert mount is not None
    assert mount.read_only


def test_a_kubelet_that_lives_elsewhere_is_noticed(own: Workload) -> None:
    types = {m.path.name: m.host_path["type"] for m in own.mounts if m.host_path and "kubelet" in m.path.parts}

    assert types == dict.fromkeys(("device-plugins", "plugins_registry", "pod-resources"), "Directory")


def test_the_container_has_no_right_beyond_being_root(own: Workload) -> None:
    assert own.container["securityContext"] == {
        "runAsUser": 0,
        "runAsGroup": 0,
        "privileged": False,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert "securityContext" not in own.pod


def test_the_pod_shares_nothing_with_the_host_but_its_network(own: Workload) -> None:
    assert own.pod["hostNetwork"] is True
    assert {key for key in own.pod if key.startswith("host")} == {"hostNetwork"}


def test_the_pod_gets_no_token_and_no_variables_of_services(own: Workload) -> None:
    assert own.pod["automountServiceAccountToken"] is False
    assert own.pod["enableServiceLinks"] is False


def test_the_pod_runs_on_every_linux_node_and_is_not_evicted(own: Workload) -> None:
    assert own.pod["priorityClassName"] == "system-node-critical"
    assert own.document["metadata"]["namespace"] == "kube-system"
    assert own.pod["tolerations"] == [{"operator": "Exists"}]
    assert own.pod["nodeSelector"] == {"kubernetes.io/os": "linux"}


def test_there_are_never_two_plugins_on_a_node(workload: Workload) -> None:
    strategy = workload.spec["updateStrategy"]

    assert strategy["type"] == "RollingUpdate"
    assert strategy["rollingUpdate"].get("maxSurge", 0) == 0


def test_a_rollout_of_a_plugin_that_ends_at_once_does_not_go_on(own: Workload) -> None:
    assert own.spec["updateStrategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": "10%"}
    assert own.spec["minReadySeconds"] > 0


@pytest.mark.parametrize("workload", [OWN], indirect=True)
def test_probes_ask_where_the_daemon_answers(workload: Workload, chosen: Settings) -> None:
    """The kubelet is outside of the container: without a host it would ask the node's own address."""
    assert chosen.probe_address is not None
    host, port = host_and_port(chosen.probe_address)
    asked = {name: workload.container[f"{name}Probe"]["httpGet"] for name in ("liveness", "readiness")}

    assert workload.pod["hostNetwork"] is True
    assert ip_address(host).is_loopback
    assert asked == {
        "liveness": {"host": host, "port": port, "path": "/livez"},
        "readiness": {"host": host, "port": port, "path": "/readyz"},
    }


def test_a_plugin_is_given_a_minute_before_it_is_killed(own: Workload) -> None:
    """Also that of its start, and of a node that is busy."""
    probe = own.container["livenessProbe"]

    assert probe["periodSeconds"] * probe["failureThreshold"] == 60
    assert probe["timeoutSeconds"] <= probe["periodSeconds"]
    assert "startupProbe" not in own.container


def test_nothing_answers_probes_under_the_operator_which_asks_none() -> None:
    operator = Workload(OPERATOR)

    assert not any("probe" in argument for argument in operator.arguments)
    assert not any(key.endswith("Probe") for key in operator.container)


def test_memory_is_asked_for_as_measured(own: Workload) -> None:
    assert own.container["resources"] == {"requests": {"cpu": "10m", "memory": "48Mi"}, "limits": {"memory": "128Mi"}}


def test_a_daemon_set_selects_the_pods_it_makes(workload: Workload) -> None:
    labels = workload.spec["template"]["metadata"]["labels"]

    assert workload.spec["selector"]["matchLabels"].items() <= labels.items()


def test_the_image_is_this_version_of_no_registry_in_particular(workload: Workload) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert workload.container["image"] == f"{project['name']}:{project['version']}"


def test_the_entry_point_is_the_images(workload: Workload) -> None:
    assert "command" not in workload.container


@pytest.mark.parametrize("workload", [OWN], indirect=True)
def test_the_example_configuration_loads_without_a_warning(
    workload: Workload, chosen: Settings, tmp_path: Path
) -> None:
    mount = workload.mount_of(chosen.config_file)
    assert mount is not None
    assert mount.config_map == CONFIG_MAP["metadata"]["name"]
    assert workload.document["metadata"]["namespace"] == CONFIG_MAP["metadata"]["namespace"]
    file = tmp_path / "config.json"
    file.write_text(CONFIG_MAP["data"][str(chosen.config_file.relative_to(mount.path))], encoding="utf-8")

    configuration = ConfigFile(file, chosen.resource_prefix, strict=True).load()

    assert configuration.warnings == ()
    assert len(configuration.pools) == len(json.loads(file.read_text(encoding="utf-8"))["resourceList"]) > 0


def test_kustomize_applies_all_there_is_but_the_operators_own() -> None:
    files = {path.name for path in DEPLOY.glob("*.yaml")} - {"kustomization.yaml"}

    assert set(document(DEPLOY / "kustomization.yaml")["resources"]) == files

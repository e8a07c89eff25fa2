import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.unit.deploy.dockerfile import ignored, stages
from tests.unit.deploy.manifest import OPERATOR, OWN, REPOSITORY, Workload

STAGES = stages()
LAST = STAGES[-1]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
NOT_IN_AN_IMAGE_THAT_RUNS = re.compile(r"\b(apt|apt-get|apk|dnf|gcc|cc|make|git|curl|wget|pip3? (?!uninstall))\b")


@pytest.mark.parametrize("manifest", [OWN, OPERATOR], ids=["own", "operator"])
def test_the_entry_point_is_the_daemon_and_takes_the_containers_arguments(manifest: Path) -> None:
    interpreter, *start = LAST.entry_point
    assert interpreter.endswith("/bin/python")
    assert LAST.all("CMD") == []
    arguments = Workload(manifest).arguments

    shown = subprocess.run(
        [sys.executable, *start, *arguments, "--help"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )

    assert (shown.returncode, shown.stderr) == (0, "")
    assert "--config-file" in shown.stdout


def test_the_last_stage_holds_no_tool_to_build_or_fetch_with() -> None:
    assert len(STAGES) > 1
    assert [run for run in LAST.all("RUN") if NOT_IN_AN_IMAGE_THAT_RUNS.search(run)] == []
    assert any("pip uninstall" in run for run in LAST.all("RUN"))


def test_all_stages_have_one_base_so_that_the_environment_fits_its_interpreter() -> None:
    assert {stage.base.partition(" ")[0] for stage in STAGES} == {"${BASE}"}


def test_everything_that_is_installed_is_checked_by_hash_or_was_built_here() -> None:
    installs = [part for stage in STAGES for run in stage.all("RUN") for part in run.split("&&") if " install " in part]

    assert len(installs) == 3
    assert [part for part in installs if "--require-hashes" not in part and "--no-index" not in part] == []


def test_the_build_backend_is_complete() -> None:
    (run,) = (run for run in STAGES[0].all("RUN") if "awk" in run)
    names = re.search(r"\^\(([a-z|-]+)\)==", run)
    assert names is not None

    assert set(names[1].split("|")) == with_dependencies("hatchling")


def with_dependencies(name: str) -> set[str]:
    """A distribution and all it needs, by canonical names."""
    needed = [Requirement(text) for text in requires(name) or ()]
    below = [with_dependencies(r.name) for r in needed if r.marker is None or r.marker.evaluate({"extra": ""})]
    return {canonicalize_name(name), *(other for names in below for other in names)}


def test_bytecode_of_the_project_and_of_the_standard_library_is_in_the_image() -> None:
    of_project, of_library = (run for stage in STAGES for run in stage.all("RUN") if "compileall" in run)

    assert of_project.endswith("/opt/sriovdp/lib")
    assert 'get_path("stdlib")' in of_library
    # Bytecode that is checked against file times is worth nothing once a builder has rewritten them.
    assert all("--invalidation-mode unchecked-hash" in run for run in (of_project, of_library))
    assert LAST.variables["PYTHONDONTWRITEBYTECODE"] == "1"


def test_nothing_is_imported_from_the_working_directory() -> None:
    assert LAST.variables["PYTHONSAFEPATH"] == "1"


def test_the_wheels_packages_are_what_is_copied() -> None:
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    named = {PROJECT["project"]["readme"], "pyproject.toml", "LICENSE", "requirements"}

    assert set(copied()) == {*packages, *named}


def test_what_is_copied_is_there_and_nothing_else_is_sent_to_the_builder() -> None:
    everything, *rest = ignored()

    assert everything == "*"
    assert {pattern[1:] for pattern in rest if pattern.startswith("!")} == set(copied())
    assert [name for name in copied() if not (REPOSITORY / name).exists()] == []


def copied() -> list[str]:
    """What the stages take out of the checkout."""
    return [name for stage in STAGES for name in stage.copied]


def test_the_image_runs_as_root_who_owns_the_kubelets_directories() -> None:
    assert LAST.all("USER") == ["0:0"]

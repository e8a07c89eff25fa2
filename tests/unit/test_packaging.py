"""The four packages carry plain names that other distributions use as well: nobody else's may be imported."""

import importlib
import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = ("domain", "application", "adapters", "entrypoints")
REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize("name", PACKAGES)
def test_the_imported_package_is_ours(name: str) -> None:
    owners = set(importlib.metadata.packages_distributions().get(name, []))

    assert owners <= {"sriovdp"}
    assert (Path(importlib.import_module(name).__path__[0]) / "py.typed").is_file()


def test_the_domain_imports_only_the_standard_library() -> None:
    modules = [f"domain.{p.stem}" for p in (REPOSITORY / "domain").glob("*.py")]
    code = f"import sys, {', '.join(modules)}; print(*sorted(m.partition('.')[0] for m in sys.modules))"

    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY)

    loaded = set(output.stdout.split()) - set(sys.stdlib_module_names) - {"domain", "sitecustomize"}
    assert {name for name in loaded if not name.startswith("_")} == set()

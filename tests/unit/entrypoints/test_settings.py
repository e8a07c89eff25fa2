from pathlib import Path

import pytest

from entrypoints.command_line import Parser, add_settings, settings
from entrypoints.settings import Settings, host_and_port

NO_ADDRESSES = (
    "19808",
    ":19808",
    "localhost:19808",
    "127.0.0.1",
    "127.0.0.1:",
    "127.0.0.1:0",
    "127.0.0.1:65536",
    "127.0.0.1:-1",
    "127.0.0.1:http",
    "127.0.0.1:\u0664",
    "::1:19808",
    "[127.0.0.1]:19808",
    "[::1]",
)


def chosen(*flags: str) -> Settings:
    parser = Parser(prog="daemon")
    add_settings(parser, Settings.model_fields)
    return settings(parser, parser.parse(flags))


def test_defaults_are_those_of_the_go_plugin() -> None:
    found = chosen()

    assert found.config_file == Path("/etc/pcidp/config.json")
    assert found.resource_prefix == "intel.com"
    assert found.devinfo_dir == Path("/var/run/k8s.cni.cncf.io/devinfo/dp")
    assert found.kubelet_dir == Path("/var/lib/kubelet")


def test_a_flag_wins_over_the_environment_and_that_over_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SRIOVDP_RESOURCE_PREFIX", "from.environment")
    monkeypatch.setenv("SRIOVDP_STRICT", "true")

    assert chosen().resource_prefix == "from.environment"
    assert chosen("--resource-prefix=from.flag").resource_prefix == "from.flag"
    assert chosen().strict is True


@pytest.mark.parametrize(("flag", "value"), [("--use-cdi", True), ("--use-cdi=true", True), ("--use-cdi=false", False)])
def test_a_switch_is_taken_with_and_without_a_value(flag: str, value: bool) -> None:
    assert chosen(flag).use_cdi is value


EMPTY = ("config-file", "resource-prefix", "log-level", "log-dir", "registration", "probe-address", "kubelet-host-dir")


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_value_is_as_good_as_none(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Helm value left empty; the script of the Go plugin's image passes such flags over."""
    assert chosen(f"--{name}=") == chosen()
    assert chosen(f"--{name}", "") == chosen()
    monkeypatch.setenv(f"SRIOVDP_{name.replace('-', '_').upper()}", "")
    assert chosen() == Settings.model_construct(**{n: f.default for n, f in Settings.model_fields.items()})


@pytest.mark.parametrize("name", ["use-cdi", "strict"])
def test_an_empty_switch_is_as_good_as_none(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen(f"--{name}=") == chosen()
    monkeypatch.setenv(f"SRIOVDP_{name.replace('-', '_').upper()}", "")
    assert chosen(f"--{name}=") == chosen()


def test_behind_an_empty_flag_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SRIOVDP_RESOURCE_PREFIX", "from.environment")

    assert chosen("--resource-prefix=").resource_prefix == "from.environment"


@pytest.mark.parametrize(
    ("told", "directory"),
    [("sriovdp", "/var/log/sriovdp"), ("a/b", "/var/log/a/b"), ("/var/log/sriovdp", "/var/log/sriovdp"), ("/x", "/x")],
)
def test_a_relative_directory_of_logs_is_below_var_log(
    told: str, directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Manifests of v3.5.1 to v3.11.0 say --log-dir=sriovdp, and their image's script makes that of it."""
    assert chosen(f"--log-dir={told}").log_dir == Path(directory)
    monkeypatch.setenv("SRIOVDP_LOG_DIR", told)
    assert chosen().log_dir == Path(directory)


def test_a_value_may_hold_an_equals_sign() -> None:
    assert chosen("--config-file=/etc/pcidp/a=b").config_file == Path("/etc/pcidp/a=b")


@pytest.mark.parametrize(
    ("flags", "environment", "said"),
    [
        (["--config-fil=x"], {}, "did you mean --config-file?"),
        (["--log-level=eleven"], {}, "--log-level=eleven"),
        (["--registration=both", "--log-level=12"], {}, "--log-level=12: expected 0 to 10; --registration=both"),
        ([], {"SRIOVDP_LOG_LEVEL": "99"}, "SRIOVDP_LOG_LEVEL=99"),
        *(([f"--probe-address={bad}"], {}, f"--probe-address={bad}: expected ADDRESS:PORT") for bad in NO_ADDRESSES),
        (["surplus"], {}, "unknown: surplus"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_name(
    flags: list[str],
    environment: dict[str, str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(SystemExit) as ended:
        chosen(*flags)

    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("127.0.0.1:19808", ("127.0.0.1", 19808)),
        ("[::1]:19808", ("::1", 19808)),
        ("0.0.0.0:1", ("0.0.0.0", 1)),  # noqa: S104 - who says so means it
        ("[::]:65535", ("::", 65535)),
    ],
)
def test_probes_are_answered_on_the_address_that_was_told(address: str, parts: tuple[str, int]) -> None:
    chosen_address = chosen(f"--probe-address={address}").probe_address

    assert chosen_address == address
    assert host_and_port(chosen_address) == parts


def test_nobody_answers_probes_who_was_not_told_to() -> None:
    assert chosen().probe_address is None

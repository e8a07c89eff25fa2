import json
import os
from pathlib import Path

import pytest

from entrypoints.cli import main
from tests.hosts.host import SimHost
from tests.hosts.named import h1


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """H1 with one VF on vfio-pci, a NIC that the host uses, and an accelerator."""
    described: SimHost = h1()
    described.pf("0000:01:00.0", netdevs=["eno1"])
    described.default_route("eno1", "192.0.2.1")
    described.function("0000:70:00.0", class_code="0b4000", driver="qat")
    root = tmp_path / "root"
    described.lay(root).rebind("0000:3b:01.2", "vfio-pci")
    return root


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    pools = [
        {"resourceName": "one", "selectors": {"pciAddresses": ["0000:3b:01.0"]}},
        {"resourceName": "kern", "selectors": {"vendors": ["8086"], "drivers": ["iavf"]}},
        {"resourceName": "mlx", "selectors": {"vendors": ["15b3"]}},
    ]
    path.write_text(json.dumps({"resourceList": pools}), encoding="utf-8")
    return path


def explain(host: Path, config: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    assert main(["explain", f"--config-file={config}", f"--root={host}", *flags]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("device", "answer"),
    [
        ("0000:3b:01.1", "intel.com/mlx: vendors: wanted 15b3, found 8086"),
        ("0000:3b:01.2", "intel.com/kern: drivers: wanted iavf, found vfio-pci"),
        ("0000:3b:01.0", "intel.com/kern: selected too, but taken by intel.com/one"),
        ("0000:3b:00.0", "found 4 VFs configured"),
        ("0000:01:00.0", "found IPv4 default route via eno1"),
        ("0000:70:00.0", "pciClasses: wanted 02, found 0b4000"),
    ],
)
def test_why_a_device_is_not_in_a_pool_is_answered_with_both_values(
    device: str, answer: str, host: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Case H01."""
    assert answer in explain(host, config, capsys, f"--device={device}")


def test_an_overview_has_every_network_device_once_and_counts_the_others(
    host: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = explain(host, config, capsys).splitlines()

    assert lines[0] == "pool intel.com/one   netDevice  1 device"
    assert [line.split()[0] for line in lines if line.startswith("0000:")] == [
        "0000:01:00.0",
        "0000:3b:00.0",
        "0000:3b:01.0",
        "0000:3b:01.1",
        "0000:3b:01.2",
        "0000:3b:01.3",
    ]
    assert "devices of other kinds" in lines[-1]


def test_programs_get_the_same_as_json(host: Path, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = json.loads(explain(host, config, capsys, "--json"))

    devices = {d["id"]: d for d in answer["devices"]}
    assert {p["resource"]: p["devices"] for p in answer["pools"]} == {
        "intel.com/one": ["0000:3b:01.0"],
        "intel.com/kern": ["0000:3b:01.1", "0000:3b:01.3"],
        "intel.com/mlx": [],
    }
    assert devices["0000:3b:01.2"]["verdicts"][1]["refusals"] == [
        {"by": "drivers", "wanted": "iavf", "found": "vfio-pci"}
    ]
    assert devices["0000:01:00.0"]["unusable"]["by"] == "host use"


def test_a_device_that_does_not_exist_is_no_answer(
    host: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["explain", f"--config-file={config}", f"--root={host}", "--device=0000:ff:00.0"])

    assert code == 1
    assert "no such device" in capsys.readouterr().err


def test_a_good_file_is_valid(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(config)]) == 0
    assert "3 pools, 0 warnings" in capsys.readouterr().out


def test_a_bad_file_is_told_with_every_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"resourceList": [{"resourceName": "a.b", "selectors": {"x": 1}}]}', encoding="utf-8")

    assert main(["validate", str(bad)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
    assert main(["validate", "--json", str(bad)]) == 2
    answer = json.loads(capsys.readouterr().out)
    assert answer["valid"] is False
    assert [p["fatal"] for p in answer["problems"]] == [True, False]


def test_an_empty_path_is_not_taken_for_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["validate", ""])

    assert ended.value.code == 2
    assert "the path is empty" in capsys.readouterr().err


def test_strict_refuses_warnings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    doubtful = tmp_path / "c.json"
    doubtful.write_text('{"resourceList": [{"resourceName": "a", "selectors": {"x": 1}}]}', encoding="utf-8")

    assert main(["validate", str(doubtful)]) == 0
    assert main(["validate", "--strict", str(doubtful)]) == 2
    assert "unknown key 'x'" in capsys.readouterr().err


def test_a_definition_is_written_for_a_pool_by_either_name(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("kern", "intel.com/kern"):
        assert main(["nad", f"--config-file={config}", name]) == 0
        assert 'k8s.v1.cni.cncf.io/resourceName: "intel.com/kern"' in capsys.readouterr().out


def test_a_pool_that_does_not_exist_is_told_with_those_that_do(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["nad", f"--config-file={config}", "kerm"]) == 1
    assert "intel.com/one, intel.com/kern, intel.com/mlx" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["explian"], ["explain", "--jsn"]])
def test_wrong_usage_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code: object = main(arguments)
    except SystemExit as ended:
        code = ended.code

    assert code == 2


def test_what_is_missing_below_the_root_is_said_beside_the_answer(
    tmp_path: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", f"--config-file={config}", f"--root={tmp_path / 'mistyped'}", "--json"]) == 0

    printed = capsys.readouterr()
    assert json.loads(printed.out)["devices"] == []
    assert [line.split(": ")[1:4] for line in printed.err.splitlines()] == [
        ["missing on the host", f"{tmp_path}/mistyped/{path}", "No such file or directory"]
        for path in ("sys/bus/pci/devices", "proc/net/route")
    ]


@pytest.mark.parametrize("command", [["nad", "x"], ["explain", "--pool=x"]])
def test_a_short_name_of_several_pools_is_refused_with_the_full_ones(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.json"
    pool = {"resourceName": "x", "selectors": {}}
    pools = [{**pool, "resourcePrefix": prefix} for prefix in ("intel.com", "nvidia.com")]
    config.write_text(json.dumps({"resourceList": pools}), encoding="utf-8")
    flags = [f"--config-file={config}"] + ([f"--root={tmp_path}"] if command[0] == "explain" else [])

    assert main([*command, *flags]) == 1
    assert "intel.com/x, nvidia.com/x: give the full name" in capsys.readouterr().err
    assert main(["nad", f"--config-file={config}", "nvidia.com/x"]) == 0
    assert 'resourceName: "nvidia.com/x"' in capsys.readouterr().out


def test_programs_that_ask_for_one_pool_get_the_verdicts_of_that_one(
    host: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = json.loads(explain(host, config, capsys, "--json", "--pool=kern"))

    assert {p["resource"] for p in answer["pools"]} == {"intel.com/kern"}
    assert {v["resource"] for d in answer["devices"] for v in d["verdicts"]} == {"intel.com/kern"}


def test_without_pools_every_device_is_said_to_have_none(
    host: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config.write_text('{"resourceList": []}', encoding="utf-8")

    assert "iavf VF 0 of ens1f0  in no pool: there are none" in explain(host, config, capsys)
    assert main(["nad", f"--config-file={config}", "x"]) == 1
    assert "no pool x: there are none" in capsys.readouterr().err


def test_a_flag_before_the_command_is_told_where_it_belongs(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--json", "validate", str(config)])

    assert "unknown: --json: it belongs behind the command" in capsys.readouterr().err


def test_a_configuration_is_validated_as_it_comes_out_of_a_pipe(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a template makes needs no file."""
    reader, writer = os.pipe()
    os.write(writer, config.read_bytes())
    os.close(writer)
    try:
        assert main(["validate", f"/dev/fd/{reader}"]) == 0
    finally:
        os.close(reader)

    assert "3 pools" in capsys.readouterr().out

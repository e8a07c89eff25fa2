"""The command in a shell: its output is cut off, full, closed, or interrupted."""

import fcntl
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "entrypoints.cli"]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    pools = [{"resourceName": "a", "selectors": {"vendors": ["8086"]}}]
    path.write_text(json.dumps({"resourceList": pools}), encoding="utf-8")
    return path


def shell(line: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A line of bash in which "$@" is the command."""
    command = ["bash", "-c", line, "bash", *PROGRAM, *map(str, arguments)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)


@pytest.mark.parametrize("arguments", [("validate",), ("explain", "--help")])
def test_a_reader_that_has_had_enough_is_no_trouble(arguments: Sequence[str], config: Path) -> None:
    ended = shell('"$@" | true; exit "${PIPESTATUS[0]}"', *arguments, config)

    assert (ended.returncode, ended.stderr) == (141, "")


@pytest.mark.parametrize(
    ("target", "reason"), [("/dev/full", "No space left on device"), ("&-", "Bad file descriptor")]
)
def test_an_answer_that_cannot_be_written_is_told_in_one_line(target: str, reason: str, config: Path) -> None:
    ended = shell(f'"$@" >{target}', "validate", config)

    assert (ended.returncode, ended.stderr) == (2, f"sriovdp: standard output: {reason}\n")


def test_half_a_surrogate_pair_is_shown_by_its_number(config: Path) -> None:
    config.write_text('{"resourceList": [{"resourceName": "a", "selectors": {"drivers": ["\\ud83d"]}}]}')
    function = config.parent / "root/sys/bus/pci/devices/0000:01:00.0"
    function.mkdir(parents=True)
    (function / "uevent").write_text("DRIVER=ixgbe\nPCI_CLASS=20000\nPCI_ID=8086:154D\n", encoding="utf-8")

    ended = shell('"$@"', "explain", f"--config-file={config}", f"--root={config.parent}/root")

    assert ended.returncode == 0
    assert "drivers: wanted \\ud83d, found ixgbe" in ended.stdout


def test_ctrl_c_leaves_no_trace(config: Path) -> None:
    pools = [{"resourceName": f"a{number}", "selectors": {}} for number in range(1000)]
    config.write_text(json.dumps({"resourceList": pools}), encoding="utf-8")
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)  # the answer is longer
    command = [*PROGRAM, "validate", "--json", str(config)]
    with subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert select.select([reader], [], [], 60)[0]
            assert interrupted(process) == (130, "")
        finally:
            process.kill()
            os.close(reader)
            os.close(writer)


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and what was said; a signal between two system calls is seen after the next, so it is sent again."""
    for _ in range(6):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            _, said = process.communicate(timeout=10)
            return process.returncode, said
    raise AssertionError("goes on after Ctrl-C")

"""The log, where its lines cannot be written."""

import json
import os
import subprocess
import sys
from pathlib import Path

TELL = """
import sys
from pathlib import Path
from entrypoints.journal import open_journal
journal = open_journal(1, Path(sys.argv[1]) if len(sys.argv) > 1 else None)
for number in range(3):
    journal.info("told", number=number)
"""


def shell(line: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A line of bash in which "$@" is a program with a log."""
    command = ["bash", "-c", line, "bash", sys.executable, "-c", TELL, *map(str, arguments)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)


def test_log_files_on_a_full_disk_are_given_up_once_and_the_log_goes_on(tmp_path: Path) -> None:
    (tmp_path / "sriovdp.log").symlink_to("/dev/full")

    ended = shell('"$@"', tmp_path)

    told = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [event["event"] for event in told] == ["told", "no log files", "told", "told"]
    assert (told[1]["directory"], told[1]["reason"]) == (str(tmp_path), "No space left on device")
    assert ended.stderr == ""


def test_a_log_that_nobody_reads_any_more_leaves_no_trace() -> None:
    ended = shell('"$@" | true; exit "${PIPESTATUS[0]}"')

    assert (ended.returncode, ended.stderr) == (0, "")


def test_without_standard_output_the_log_is_on_standard_error() -> None:
    ended = shell('"$@" >&-')

    assert [json.loads(line)["event"] for line in ended.stderr.splitlines()] == ["told"] * 3

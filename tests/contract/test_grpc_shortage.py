"""gRPC ends a process that may open no more files at the moment when it is used first: so that is early."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import asyncio, os, resource, socket, sys
from pathlib import Path
from adapters.kubelet.pod_resources import PodResources
from adapters.kubelet.publisher import KubeletPaths, KubeletPublisher, Registration
from tests.fakes.journal import FakeJournal

async def main():
    directory, journal = Path(sys.argv[1]), FakeJournal()
    paths = KubeletPaths(directory, directory)
    publisher = KubeletPublisher(paths, Registration.CLASSIC, None, journal)
    (directory / "pod-resources").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(directory / "pod-resources" / "kubelet.sock"))
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        assert await PodResources(directory, journal).holdings() is None
        assert await PodResources(directory, journal).holdings() is None
    await publisher.stop()
    print("alive")

asyncio.run(main())
"""


def test_a_process_that_has_never_served_survives_a_call_without_files(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, tmp_path], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr
